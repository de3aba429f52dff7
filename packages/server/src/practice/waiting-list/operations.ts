/**
 * $accept-offer and $decline-offer: the answer of one who waits to a slot that became free (docs/decisions/0203). R4 has no
 * operations for this: a proposed appointment is answered by a change of its status, which does not know of offers that end.
 */

import type { Appointment } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import type { InteractionContext } from '../../engine/context.ts';
import { requireValidId } from '../../engine/write/build-write.ts';
import { buildPatchResponse, changeResource } from '../../engine/write/patch.ts';
import { resolveActor } from '../../engine/write/save-version.ts';
import { declareOutput, type Operation } from '../../operations/operation.ts';
import { resolveStep } from '../../resources/states/judging.ts';
import type { Act } from '../../resources/states/state-table.ts';
import { appointmentStates } from '../booking/appointment-states.ts';
import { defineAppointmentOperation } from '../visits/operations.ts';
import { findStandingOffer, type WaitlistOffer } from './store.ts';
import { buildSettledAppointment, buildWithdrawnAppointment } from './waitlist.ts';

/** Changes the Appointment as the answer to the offer does, but for its status. */
type Answering = (appointment: Appointment, offer: WaitlistOffer) => Appointment;

export const acceptOffer = offerOperation('accept-offer', buildSettledAppointment);
export const declineOffer = offerOperation('decline-offer', buildWithdrawnAppointment);

function offerOperation(name: string, answering: Answering): Operation {
  return defineAppointmentOperation(name, {
    because: 'an appointment to which no offer stands',
    parameters: [
      declareOutput('return', 'Appointment', 'The appointment after the change, as in the response to PATCH.'),
    ],
    /**
     * 200 as a PATCH.
     * @throws PraxisError `rule-broken` where no offer stands, `slot-taken`, and as a PATCH
     */
    async answer(context, request) {
      requireValidId(request.id);
      const act: Act = { by: resolveActor(context), on: `$${name}` };
      const offer = await findStandingOffer(context.store, context.scope, request.id);
      const apply = (appointment: Appointment): Appointment => {
        const { to } = resolveStep(appointmentStates, appointment, act);
        return { ...answering(appointment, requireOffer(context, offer)), status: to };
      };
      // What else changes than the status the offer had brought, so that it is the server's to take back.
      const patch = { touches: [{ member: 'status', blind: false }], apply };
      const options = { act, ...(offer && { extras: { answered: offer } }) };
      return buildPatchResponse(context, request, await changeResource(context, request, patch, options));
    },
  });
}

function requireOffer({ clock }: InteractionContext, offer: WaitlistOffer | undefined): WaitlistOffer {
  if (offer !== undefined && offer.expiresMs > clock.now()) return offer;
  return fail('rule-broken', {
    diagnostics:
      offer === undefined
        ? 'The appointment was proposed by a caller, not offered from the waiting list: change its status to answer'
        : `The offer ended at ${new Date(offer.expiresMs).toISOString()}: the appointment waits for another one, or $book takes a slot`,
    expression: ['Appointment.status'],
  });
}
