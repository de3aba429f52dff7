/** The cases of R4's page bundle.html. */

import { bundle } from './bundle.ts';
import { runPage } from './run.ts';

await runPage(bundle);
