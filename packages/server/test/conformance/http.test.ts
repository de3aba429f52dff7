/** The cases of R4's page on the RESTful API. */
import { http } from './http.ts';
import { runPage } from './run.ts';

await runPage(http);
