/**
 * The cost of the field mask on a Patient of about 2 kB, in µs per resource and as a ratio to JSON.parse + JSON.stringify
 * of the same text in the same run. Limit: 30 µs. Run: node bench/mask.ts
 */
import { parseJson } from '@praxis/fhir';
import { boxStored } from '../packages/server/src/access/disclosure.ts';
import { disclose, type ElementFilter } from '../packages/server/src/access/mask.ts';
import { type AccessPolicy, compilePolicy } from '../packages/server/src/access/policy.ts';

const limitMicros = 30;
const rounds = 9;
const callsPerRound = 20_000;

const text = JSON.stringify({
  resourceType: 'Patient',
  id: 'f3b1d2c4',
  meta: {
    versionId: '7',
    lastUpdated: '2026-03-04T05:06:07.890Z',
    profile: ['http://hl7.org/fhir/us/core/StructureDefinition/us-core-patient'],
  },
  extension: ['race', 'ethnicity'].map((kind) => ({
    url: `http://hl7.org/fhir/us/core/StructureDefinition/us-core-${kind}`,
    extension: [
      {
        url: 'ombCategory',
        valueCoding: { system: 'urn:oid:2.16.840.1.113883.6.238', code: '2106-3', display: 'White' },
      },
      { url: 'text', valueString: 'White' },
    ],
  })),
  identifier: [
    {
      use: 'usual',
      type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'MR' }] },
      system: 'http://example.org/mrn',
      value: 'MM0000000059',
    },
    { system: 'http://hl7.org/fhir/sid/us-ssn', value: '000-00-0000' },
  ],
  active: true,
  name: [
    { use: 'official', family: 'Example', given: ['Anna', 'Maria'] },
    { use: 'maiden', family: 'Sample' },
  ],
  telecom: [
    { system: 'phone', value: '+1 555 0100', use: 'home' },
    { system: 'phone', value: '+1 555 0101', use: 'mobile' },
    { system: 'email', value: 'anna@example.org' },
  ],
  gender: 'female',
  birthDate: '1970-01-31',
  address: [
    {
      use: 'home',
      line: ['1 Example Street', 'Apartment 2'],
      city: 'Springfield',
      state: 'IL',
      postalCode: '62701',
      country: 'US',
    },
  ],
  maritalStatus: {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'M', display: 'Married' }],
  },
  contact: [
    {
      relationship: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0131', code: 'N' }] }],
      name: { family: 'Example', given: ['Bertram'] },
      telecom: [{ system: 'phone', value: '+1 555 0102' }],
    },
  ],
  communication: [{ language: { coding: [{ system: 'urn:ietf:bcp:47', code: 'en' }] }, preferred: true }],
  generalPractitioner: [{ reference: 'Practitioner/827', display: 'Dr. Example' }],
});

/** The best round's time of one call, in µs. */
function micros(call: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    for (let at = 0; at < callsPerRound; at += 1) call();
    best = Math.min(best, ((performance.now() - start) * 1000) / callsPerRound);
  }
  return best;
}

function masking(policy: AccessPolicy, filter?: ElementFilter): () => unknown {
  const content = boxStored(text);
  return () => disclose(policy, 's', 'Patient', content, () => true, filter);
}

const all = compilePolicy(['acl/*'], ['acl/*']);
const restricted = compilePolicy(['acl/pat_s_id', 'acl/pat_s_name_dob_gen'], ['acl/*']);
const floor = micros(() => JSON.stringify(JSON.parse(text)));
const measured: readonly (readonly [string, number])[] = [
  ['JSON.parse + JSON.stringify', floor],
  ['lossless parse + JSON.stringify', micros(() => JSON.stringify(parseJson(text)))],
  ['full grant', micros(masking(all))],
  ['restricted grant', micros(masking(restricted))],
  ['full grant, _elements', micros(masking(all, { elements: new Set(['name', 'telecom']) }))],
  ['full grant, _summary=true', micros(masking(all, { summary: 'true' }))],
  ['restricted grant, _summary=true', micros(masking(restricted, { summary: 'true' }))],
];

console.log(`field mask, Patient of ${text.length} characters (µs per resource, ratio to JSON.parse + JSON.stringify)`);
for (const [name, time] of measured)
  console.log(`${name.padEnd(34)} ${time.toFixed(2).padStart(8)}  ${(time / floor).toFixed(2).padStart(6)}`);

const tooSlow = measured.slice(2).filter(([, time]) => time > limitMicros);
if (tooSlow.length > 0) {
  console.error(`over ${limitMicros} µs: ${tooSlow.map(([name]) => name).join(', ')}`);
  process.exitCode = 1;
}
