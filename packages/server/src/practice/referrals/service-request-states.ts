/** ServiceRequest (https://hl7.org/fhir/R4/valueset-request-status.html, https://hl7.org/fhir/R4/request.html#statemachine). */
import type { RequestStatusCode } from '@praxis/fhir';
import type { StateTable } from '../../resources/states/state-table.ts';

const written = { by: 'application', on: 'write' } as const;

export const serviceRequestStates: StateTable<RequestStatusCode> = {
  name: 'ServiceRequest',
  type: 'ServiceRequest',
  introduction:
    "R4's machine of requests. An order that was carried out elsewhere may be recorded when it is completed.",
  states: [
    { code: 'draft', meaning: 'not yet ordered', begins: ['application'] },
    { code: 'active', meaning: 'ordered', begins: ['application'] },
    { code: 'on-hold', meaning: 'not to be carried out for now', begins: ['application'] },
    { code: 'completed', meaning: 'carried out', begins: ['application'] },
    { code: 'revoked', meaning: 'called off' },
    { code: 'entered-in-error', meaning: 'it should never have been recorded' },
    { code: 'unknown', meaning: 'not known to the source', begins: ['application'] },
  ],
  transitions: [
    { from: ['draft'], to: ['active', 'revoked'], ...written },
    { from: ['active'], to: ['on-hold', 'completed', 'revoked'], ...written },
    { from: ['on-hold'], to: ['active', 'revoked'], ...written },
    { from: ['unknown'], to: ['draft', 'active', 'on-hold', 'completed', 'revoked'], ...written },
    { from: ['completed', 'revoked'], to: ['active'], by: 'practice', on: 'write', note: 'taken up again' },
    { from: ['draft', 'active', 'on-hold', 'completed', 'revoked', 'unknown'], to: ['entered-in-error'], ...written },
  ],
};
