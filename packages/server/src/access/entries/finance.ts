/** Accounts, charges, coverage and payments. https://hl7.org/fhir/R4/financial-module.html */
import { defineResource, type EntryArea } from './definition.ts';

export const finance: EntryArea = {
  title: 'Finance',
  entries: [
    defineResource('acc', 'Account', 'Accounts of patients', { letters: 's', sample: 's' }),
    defineResource('chrg_item', 'ChargeItem', 'Charges', { letters: 'rsc', sample: 'rsc' }),
    defineResource('cov', 'Coverage', 'Insurance policies of patients', { letters: 'rscu', sample: 'rs' }),
    defineResource('insr_plan', 'InsurancePlan', 'Insurance plans', { letters: 'rs', sample: 'rs' }),
    defineResource('pay_recon', 'PaymentReconciliation', 'Payment reconciliations', { letters: 'rc', sample: '' }),
  ],
};
