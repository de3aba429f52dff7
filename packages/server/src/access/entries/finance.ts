/** Accounts, charges, coverage and payments. https://hl7.org/fhir/R4/financial-module.html */
import type { EntryArea } from './definition.ts';

export const finance: EntryArea = {
  title: 'Finance',
  entries: [
    { kind: 'resource', code: 'acc', type: 'Account', means: 'Accounts of patients', letters: 's', sample: 's' },
    { kind: 'resource', code: 'chrg_item', type: 'ChargeItem', means: 'Charges', letters: 'rsc', sample: 'rsc' },
    {
      kind: 'resource',
      code: 'cov',
      type: 'Coverage',
      means: 'Insurance policies of patients',
      letters: 'rscu',
      sample: 'rs',
    },
    {
      kind: 'resource',
      code: 'insr_plan',
      type: 'InsurancePlan',
      means: 'Insurance plans',
      letters: 'rs',
      sample: 'rs',
    },
    {
      kind: 'resource',
      code: 'pay_recon',
      type: 'PaymentReconciliation',
      means: 'Payment reconciliations',
      letters: 'rc',
      sample: '',
    },
  ],
};
