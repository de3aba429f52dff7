/** The cases of R4's page search.html. */
import { runPage } from './run.ts';
import { search } from './search.ts';

await runPage(search);
