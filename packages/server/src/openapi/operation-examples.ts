/**
 * Examples of what operations take, by the last part of their canonical URL. Tests send them.
 */
const parameters = (...parameter: readonly object[]): object => ({ resourceType: 'Parameters', parameter });

const slot = { name: 'slot', valueString: 'Slot/1' };

const inputs: Readonly<Record<string, { readonly summary: string; readonly value: object }>> = {
  book: {
    summary: 'Book a slot for a patient',
    value: parameters(slot, {
      name: 'appointment',
      resource: {
        resourceType: 'Appointment',
        status: 'booked',
        description: 'Yearly examination',
        participant: [{ actor: { reference: 'Patient/1' }, status: 'accepted' }],
      },
    }),
  },
  reschedule: { summary: 'Move to another slot', value: parameters(slot) },
  cancel: {
    summary: 'Cancel with a reason',
    value: parameters({ name: 'reason', valueCodeableConcept: { text: 'Has a cold' } }),
  },
};

/** Names of the examples of an operation. */
export function listInputExamples(operation: string): readonly string[] {
  return Object.hasOwn(inputs, operation) ? [`in.${operation}`] : [];
}

/** The examples as components. */
export function buildInputExamples(): Readonly<Record<string, object>> {
  return Object.fromEntries(Object.entries(inputs).map(([operation, example]) => [`in.${operation}`, example]));
}
