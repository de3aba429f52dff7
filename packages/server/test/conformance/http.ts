/** https://hl7.org/fhir/R4/http.html: its clauses, in the order of the page. */
import type { Page } from './clause.ts';
import { bundles } from './http/bundles.ts';
import { general } from './http/general.ts';
import { history } from './http/history.ts';
import { mediaTypes } from './http/media-types.ts';
import { patching } from './http/patching.ts';
import { reading } from './http/reading.ts';
import { searching } from './http/searching.ts';
import { writing } from './http/writing.ts';

export const http: Page = {
  name: 'http',
  title: 'RESTful API, with histories',
  url: 'https://hl7.org/fhir/R4/http.html',
  clauses: [...general, ...mediaTypes, ...reading, ...writing, ...patching, ...searching, ...bundles, ...history],
};
