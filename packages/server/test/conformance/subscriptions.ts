/** https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/, Subscriptions R5 Backport 1.1.0, for R4. */
import type { Page } from './clause.ts';
import { notifyingClauses } from './subscriptions/notifying.ts';
import { subscribingClauses } from './subscriptions/subscribing.ts';

export const subscriptions: Page = {
  name: 'subscriptions',
  title: 'Subscriptions R5 Backport',
  url: 'https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/',
  clauses: [...subscribingClauses, ...notifyingClauses],
};
