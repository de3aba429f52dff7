/** `praxis charges list`: what applications have recorded to be billed. */

import { parseStored } from '../../access/disclosure.ts';
import { defineAction } from '../../actions/action.ts';
import type { Shape } from '../../actions/schema.ts';
import { getAuthorisedTargets, getTargetFirm } from '../../actions/targets.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import { chargeFacts } from './charge-transaction.ts';
import { findInboundCharges, type InboundCharge } from './store.ts';

const charge: Shape = {
  id: { kind: 'text', description: 'Id of the ChargeItem.' },
  received: { kind: 'time', description: 'When it came.' },
  application: { kind: 'text', description: 'Name of the application that recorded it.' },
  transaction: { kind: 'text', nullable: true, description: "The application's id of the transaction." },
  status: { kind: 'text', description: 'Its state: docs/integrate/states.md.' },
  patient: { kind: 'text', nullable: true, description: 'Reference to the patient.' },
  code: { kind: 'text', nullable: true, description: 'Its first code, else its text.' },
  quantity: { kind: 'text', nullable: true, none: '1', description: 'As it was written; null: one.' },
  unitCost: { kind: 'text', nullable: true, description: 'Null: that of the fee schedule.' },
  amount: { kind: 'text', nullable: true, description: 'Unit cost × quantity; null: by the fee schedule.' },
  currency: { kind: 'text', nullable: true, description: 'ISO 4217 code of the amount.' },
};

/** As in FHIR ids; longer words of other filters find nothing. */
const wordLengthMax = 100;

export const chargeActions = [
  defineAction({
    name: 'charges list',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/charges',
    summary: 'List the charges that applications have recorded, newest first',
    requestNote: 'What narrows the list stands in the body so that no patient is in a log of paths.',
    roles: ['operator', 'practice'],
    fields: {
      application: { kind: 'text', lengthMax: 120, noted: true, description: 'Only of this application.' },
      status: { kind: 'text', lengthMax: wordLengthMax, description: 'Only in this state.' },
      patient: {
        kind: 'text',
        lengthMax: 72,
        noted: true,
        description: 'Only of this patient: Patient/ID, or the id alone.',
      },
      transaction: { kind: 'text', lengthMax: wordLengthMax, description: 'Only with this id of the transaction.' },
      from: { kind: 'time', description: 'Earliest moment.' },
      to: { kind: 'time', description: 'Moment before which.' },
    },
    output: { kind: 'list', shape: charge },
    async run(context, { path, body: { from = 0, to = Number.MAX_SAFE_INTEGER, application, patient, ...words } }) {
      const { database, clock, store } = context;
      const scope = await openOperatorScope(database, clock, await getTargetFirm(context, path));
      const targets =
        application === undefined ? undefined : await getAuthorisedTargets(context, { ...path, application });
      const filter = {
        ...words,
        application: targets?.application.id,
        patient: patient?.replace(/^Patient\//, ''),
        fromMs: from,
        toMs: to,
      };
      return (await findInboundCharges(store, scope, filter, context.rowsMax + 1)).map(shown);
    },
    command: {
      columns: [
        ...['id', 'received', 'application', 'transaction', 'status', 'patient', 'code', 'quantity'],
        {
          heading: 'AMOUNT',
          none: 'fee schedule',
          cell: ({ amount, currency }) => (amount === null ? null : `${amount} ${currency ?? ''}`.trim()),
        },
      ],
    },
  }),
];

function shown({ charge: id, content, ...noted }: InboundCharge) {
  const { status, ...facts } = chargeFacts(parseStored(content));
  const { patient = null, code = null, quantity = null, unitCost = null, amount = null, currency = null } = facts;
  const { transaction = null, ...source } = noted;
  return { id, ...source, transaction, status, patient, code, quantity, unitCost, amount, currency };
}
