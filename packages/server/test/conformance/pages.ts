/** All pages of R4 whose clauses are accounted for; docs/integrate/conformance.md has a table of each. */
import { bulkdata } from './bulkdata.ts';
import { bundle } from './bundle.ts';
import type { Page } from './clause.ts';
import { fhirpatch } from './fhirpatch.ts';
import { http } from './http.ts';
import { json } from './json.ts';
import { operations } from './operations.ts';
import { search } from './search.ts';
import { subscriptions } from './subscriptions.ts';
import { xml } from './xml.ts';

export const pages: readonly Page[] = [http, search, json, xml, bundle, operations, fhirpatch, bulkdata, subscriptions];
