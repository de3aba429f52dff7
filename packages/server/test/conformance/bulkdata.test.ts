/** The cases of the page export.html of Bulk Data Access. */

import { bulkdata } from './bulkdata.ts';
import { runPage } from './run.ts';

await runPage(bulkdata);
