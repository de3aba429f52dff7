/**
 * The practice: places, organizations, staff, tasks and value sets. https://hl7.org/fhir/R4/administration-module.html
 *
 * `org_pay` and `tsk_pmrecall` are subtypes with a row criterion: they reach some rows of the type, wholly.
 */
import { defineResource, type EntryArea } from './definition.ts';

export const practice: EntryArea = {
  title: 'Practice',
  entries: [
    defineResource('loc', 'Location', 'Places of the practice', { letters: 'rs', sample: 'rs' }),
    defineResource('org', 'Organization', 'Organizations: payers, referring institutions', {
      letters: 'rsc',
      sample: 'rsc',
    }),
    defineResource('org_pay', 'Organization', 'Payers', {
      subtype: 'pay',
      letters: 'rs',
      sample: 'rs',
      rows: [{ parameter: 'type', values: ['pay'] }],
    }),
    defineResource('prac', 'Practitioner', 'Providers, staff, referring providers', { letters: 'rsc', sample: 'rsc' }),
    defineResource('prac_role', 'PractitionerRole', 'Roles of providers', { letters: 'rs', sample: 'rs' }),
    defineResource('sbscr', 'Subscription', "The application's own subscriptions", {
      letters: 'rscu',
      sample: '',
      isOwn: true,
    }),
    defineResource('tsk', 'Task', 'Tasks', { letters: 'rs', sample: 'rs' }),
    defineResource('tsk_pmrecall', 'Task', 'Recalls', {
      subtype: 'pmrecall',
      letters: 'rs',
      sample: 'rs',
      rows: [{ parameter: 'code', values: ['PMRECALL'] }],
    }),
    defineResource('val_set', 'ValueSet', "The practice's value sets", { letters: 'r', sample: 'r' }),
  ],
};
