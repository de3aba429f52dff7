/** The cases of R4's page json.html. */

import { json } from './json.ts';
import { runPage } from './run.ts';

await runPage(json);
