/** https://hl7.org/fhir/R4/search.html: its clauses. */
import type { Page } from './clause.ts';
import { asking } from './search/asking.ts';
import { references } from './search/references.ts';
import { results } from './search/results.ts';
import { values } from './search/values.ts';

export const search: Page = {
  name: 'search',
  title: 'Search',
  url: 'https://hl7.org/fhir/R4/search.html',
  clauses: [...asking, ...values, ...references, ...results],
};
