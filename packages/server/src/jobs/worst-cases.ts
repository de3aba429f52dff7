/** What a caller can do to make the jobs of a firm dear (docs/decisions/0219, 0257). */
import { getting, manyOf, sending, type WorstCase } from '../base/worst-case.ts';
import type { FirmJob } from './job-failures.ts';

/** `levels` criteria inside each other, each of which looks at all identifiers of the resource again. */
function nestedCriteria(levels: number): string {
  const opening = '%resource.identifier.where('.repeat(levels);
  return `Flag.identifier.where(${opening}value = 'none'${').exists()'.repeat(levels)}).value`;
}

/** By job. The other jobs of the service do what no caller chooses. */
export const jobWorstCases: Readonly<Record<FirmJob, WorstCase>> = {
  'search-parameters': {
    because: 'an expression that grows with a power of the resource (F1)',
    stored: () => [
      {
        resourceType: 'Flag',
        id: 'siege-flag',
        identifier: manyOf(70, (number) => ({ value: `value ${number}` })),
        status: 'active',
        code: { text: 'Siege' },
        subject: { display: 'Nobody' },
      },
    ],
    request: () =>
      sending('PUT', 'SearchParameter/siege-parameter', {
        resourceType: 'SearchParameter',
        id: 'siege-parameter',
        url: 'http://example.com/SearchParameter/siege',
        name: 'Siege',
        status: 'active',
        description: 'A search parameter that looks at everything again and again',
        code: 'siege',
        base: ['Flag'],
        type: 'string',
        expression: nestedCriteria(6),
      }),
  },
  'waiting-list': {
    because: 'who waits for anything, at any time',
    request: ({ next, patient, appointmentType }) =>
      sending('POST', 'Appointment', {
        resourceType: 'Appointment',
        status: 'waitlist',
        appointmentType: { coding: [{ code: appointmentType }] },
        description: `Siege ${next()}`,
        participant: [{ actor: { reference: `Patient/${patient}` }, status: 'accepted' }],
      }),
  },
  'booked-appointments': {
    because: 'all appointments of the practice, with all that they refer to',
    request: () => getting('Appointment?_count=1000&_include=*'),
  },
};
