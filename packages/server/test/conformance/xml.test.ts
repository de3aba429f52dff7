/** The cases of R4's page xml.html. */
import { runPage } from './run.ts';
import { xml } from './xml.ts';

await runPage(xml);
