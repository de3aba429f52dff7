/** Small valid resources, as an application would send them. */

export function patient(family: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { resourceType: 'Patient', name: [{ family }], ...more };
}

/** @param actor reference to whom the appointment is with */
export function appointment(
  actor: string,
  start: string,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    resourceType: 'Appointment',
    status: 'booked',
    start,
    end: start.replace(/:00(?=Z|[+-]|$)/, ':30'),
    participant: [{ actor: { reference: actor }, status: 'accepted' }],
    ...more,
  };
}

/** @param subject reference to the patient */
export function encounter(subject: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    resourceType: 'Encounter',
    status: 'finished',
    class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
    subject: { reference: subject },
    ...more,
  };
}
