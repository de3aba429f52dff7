/** The cases of R4's page fhirpatch.html. */

import { fhirpatch } from './fhirpatch.ts';
import { runPage } from './run.ts';

await runPage(fhirpatch);
