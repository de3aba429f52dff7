/**
 * The practice: places, organizations, staff, tasks and value sets. https://hl7.org/fhir/R4/administration-module.html
 *
 * `org_pay` and `tsk_pmrecall` are subtypes with a row criterion: they reach some rows of the type, wholly.
 */
import type { EntryArea } from './definition.ts';

export const practice: EntryArea = {
  title: 'Practice',
  entries: [
    { kind: 'resource', code: 'loc', type: 'Location', means: 'Places of the practice', letters: 'rs', sample: 'rs' },
    {
      kind: 'resource',
      code: 'org',
      type: 'Organization',
      means: 'Organizations: payers, referring institutions',
      letters: 'rsc',
      sample: 'rsc',
    },
    {
      kind: 'resource',
      code: 'org_pay',
      subtype: 'pay',
      type: 'Organization',
      means: 'Payers',
      letters: 'rs',
      sample: 'rs',
      rows: [{ parameter: 'type', values: ['pay'] }],
    },
    {
      kind: 'resource',
      code: 'prac',
      type: 'Practitioner',
      means: 'Providers, staff, referring providers',
      letters: 'rsc',
      sample: 'rsc',
    },
    {
      kind: 'resource',
      code: 'prac_role',
      type: 'PractitionerRole',
      means: 'Roles of providers',
      letters: 'rs',
      sample: 'rs',
    },
    { kind: 'resource', code: 'tsk', type: 'Task', means: 'Tasks', letters: 'rs', sample: 'rs' },
    {
      kind: 'resource',
      code: 'tsk_pmrecall',
      subtype: 'pmrecall',
      type: 'Task',
      means: 'Recalls',
      letters: 'rs',
      sample: 'rs',
      rows: [{ parameter: 'code', values: ['PMRECALL'] }],
    },
    {
      kind: 'resource',
      code: 'val_set',
      type: 'ValueSet',
      means: "The practice's value sets",
      letters: 'r',
      sample: 'r',
    },
  ],
};
