/** The cases of R4's page operations.html. */

import { operations } from './operations.ts';
import { runPage } from './run.ts';

await runPage(operations);
