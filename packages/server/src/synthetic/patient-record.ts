/**
 * One patient's standing record: the person, family, coverage, allergies, conditions, medications, family history, documents,
 * recalls. What happens in visits is in `visit.ts`.
 */
import { type JsonObject, practiceExtensions } from '@praxis/fhir';
import { generatePerson, type Person } from './people.ts';
import { ids, type PracticePlan } from './plan.ts';
import { openRandom, type Random } from './random.ts';
import { reference, resource, type SyntheticResource } from './resource.ts';
import {
  allergens,
  code,
  concept,
  diagnoses,
  documentCategories,
  medications,
  reactions,
  recallActions,
  recallReasons,
  referralSources,
  systems,
} from './vocabulary.ts';
import { formatDate } from './zoned-time.ts';

const daysPerYear = 365.25;

/** The record of patient `index`; the Patient first, so that every reference points backwards. */
export function* generatePatientRecord(plan: PracticePlan, index: number): Generator<SyntheticResource> {
  const random = openRandom(plan.seed, plan.firm, 'patient', index);
  const id = ids.patient(index);
  const self = generatePerson(random);
  yield patient(plan, random, index, self);
  if (random.chance(0.3)) yield relative(random, id, self);
  yield* coverages(plan, random, id);
  if (random.chance(0.35)) yield allergy(plan, random, id);
  yield* conditions(plan, random, id);
  if (random.chance(0.25)) yield familyHistory(plan, random, id);
  if (random.chance(0.6)) yield document(plan, random, id);
  if (random.chance(0.3)) yield recall(plan, random, id);
}

function patient(plan: PracticePlan, random: Random, index: number, self: Person): SyntheticResource {
  const id = ids.patient(index);
  const ageDays = Math.floor((1 + 90 * random.next() ** 0.8) * daysPerYear);
  const identifier: JsonObject[] = [
    {
      use: 'official',
      type: { coding: [{ system: systems.identifierType, code: 'MR' }] },
      system: `https://praxis.health/firm/${plan.firm}/mrn`,
      value: `MM${String(index + 1).padStart(10, '0')}`,
    },
  ];
  // Area number 900–999 is never given to a person.
  if (random.chance(0.5))
    identifier.push({
      system: systems.ssn,
      value: `9${String(index % 100).padStart(2, '0')}-${random.integer(10, 99)}-${random.integer(1000, 9999)}`,
    });
  return resource('Patient', id, {
    extension: [
      { url: practiceExtensions.referralSource, valueCodeableConcept: concept(random.pick(referralSources)) },
    ],
    identifier,
    active: !random.chance(0.05),
    name: [self.name],
    telecom: self.telecom,
    gender: self.gender,
    birthDate: formatDate(plan.today - ageDays),
    address: [self.address],
    maritalStatus: code(`${systems.hl7}/v3-MaritalStatus`, random.pick(['M', 'S', 'D', 'W'])),
    communication: [
      {
        language: { coding: [{ system: 'urn:ietf:bcp:47', code: random.chance(0.85) ? 'en' : 'es' }] },
        preferred: true,
      },
    ],
    generalPractitioner: [reference('Practitioner', ids.referrer(random.integer(0, plan.referrers - 1)))],
    managingOrganization: reference('Organization', ids.practice),
  });
}

function relative(random: Random, id: string, self: Person): SyntheticResource {
  const { name, telecom, gender } = generatePerson(random, self.family);
  return resource('RelatedPerson', `${id}-1`, {
    active: true,
    patient: reference('Patient', id),
    relationship: [code(systems.roleCode, random.pick(['SPS', 'PRN', 'CHILD', 'SIB']))],
    name: [name],
    telecom,
    gender,
  });
}

function* coverages(plan: PracticePlan, random: Random, id: string): Generator<SyntheticResource> {
  const count = random.chance(0.15) ? 2 : random.chance(0.92) ? 1 : 0;
  for (let order = 1; order <= count; order += 1) {
    const payer = random.integer(0, plan.payers - 1);
    const firmUrl = `https://praxis.health/firm/${plan.firm}`;
    yield resource('Coverage', `${id}-${order}`, {
      identifier: [{ system: `${firmUrl}/policy`, value: `P${random.integer(10_000_000, 99_999_999)}` }],
      status: 'active',
      type: code(systems.actCode, random.pick(['EHCPOL', 'PUBLICPOL', 'HMO'])),
      subscriberId: `S${random.integer(100_000, 999_999)}`,
      beneficiary: reference('Patient', id),
      relationship: code(`${systems.hl7}/subscriber-relationship`, 'self'),
      period: { start: formatDate(plan.today - random.integer(30, 1500)) },
      payor: [reference('Organization', ids.payer(payer))],
      class: [{ type: code(`${systems.hl7}/coverage-class`, 'plan'), value: ids.plan(payer) }],
      order,
    });
  }
}

function allergy(plan: PracticePlan, random: Random, id: string): SyntheticResource {
  return resource('AllergyIntolerance', `${id}-1`, {
    clinicalStatus: code(`${systems.hl7}/allergyintolerance-clinical`, 'active'),
    verificationStatus: code(
      `${systems.hl7}/allergyintolerance-verification`,
      random.pick(['confirmed', 'unconfirmed']),
    ),
    type: 'allergy',
    category: ['medication'],
    criticality: random.pick(['low', 'high', 'unable-to-assess']),
    code: concept(random.pick(allergens)),
    patient: reference('Patient', id),
    recordedDate: formatDate(plan.today - random.integer(10, 2000)),
    reaction: [
      { manifestation: [concept(random.pick(reactions))], severity: random.pick(['mild', 'moderate', 'severe']) },
    ],
  });
}

/** Conditions, most with a medication. */
function* conditions(plan: PracticePlan, random: Random, id: string): Generator<SyntheticResource> {
  for (const [at, diagnosis] of random.sample(diagnoses, random.integer(1, 3)).entries()) {
    const onset = plan.today - random.integer(20, 1800);
    const resolved = random.chance(0.3);
    yield resource('Condition', `${id}-${at + 1}`, {
      clinicalStatus: code(`${systems.hl7}/condition-clinical`, resolved ? 'resolved' : 'active'),
      verificationStatus: code(`${systems.hl7}/condition-ver-status`, 'confirmed'),
      category: [code(`${systems.hl7}/condition-category`, 'problem-list-item')],
      code: concept(diagnosis),
      subject: reference('Patient', id),
      onsetDateTime: formatDate(onset),
      ...(resolved ? { abatementDateTime: formatDate(onset + random.integer(10, 19)) } : {}),
      recordedDate: formatDate(onset),
    });
    if (random.chance(0.7)) yield medication(random, id, at + 1, onset, resolved);
  }
}

function medication(random: Random, id: string, number: number, start: number, stopped: boolean): SyntheticResource {
  return resource('MedicationStatement', `${id}-${number}`, {
    status: stopped ? 'stopped' : 'active',
    medicationCodeableConcept: concept(random.pick(medications)),
    subject: reference('Patient', id),
    effectivePeriod: {
      start: formatDate(start),
      ...(stopped ? { end: formatDate(start + random.integer(5, 19)) } : {}),
    },
    dateAsserted: formatDate(start),
    reasonReference: [reference('Condition', `${id}-${number}`)],
    dosage: [{ text: random.pick(['once daily', 'twice daily', 'apply thinly at night']) }],
  });
}

function familyHistory(plan: PracticePlan, random: Random, id: string): SyntheticResource {
  return resource('FamilyMemberHistory', `${id}-1`, {
    status: 'completed',
    patient: reference('Patient', id),
    date: formatDate(plan.today - random.integer(10, 700)),
    relationship: code(systems.roleCode, random.pick(['FTH', 'MTH', 'BRO', 'SIS'])),
    condition: [{ code: concept(random.pick(diagnoses)) }],
  });
}

function document(plan: PracticePlan, random: Random, id: string): SyntheticResource {
  const day = plan.today - random.integer(1, 700);
  const title = `scan-${id}.pdf`;
  return resource('DocumentReference', `file-${id}`, {
    identifier: [{ system: `${systems.firm}/filename`, value: title }],
    status: 'current',
    type: { coding: [{ system: `${systems.firm}/document-type`, code: 'pdf' }] },
    category: [concept(random.pick(documentCategories))],
    subject: reference('Patient', id),
    date: plan.zone.toText(day, random.integer(480, 1020)),
    description: random.pick(['Insurance card', 'Signed consent', 'Outside records', 'Laboratory result']),
    content: [{ attachment: { contentType: 'application/pdf', title } }],
  });
}

function recall(plan: PracticePlan, random: Random, id: string): SyntheticResource {
  const due = plan.today + random.integer(-60, 300);
  return resource('Task', `recall-${id}`, {
    status: random.pick(['ready', 'in-progress', 'completed']),
    intent: 'unknown',
    code: { coding: [{ system: `${systems.firm}/task-type`, code: 'PMRECALL' }], text: 'Recall' },
    description: random.pick(recallReasons).display,
    for: reference('Patient', id),
    authoredOn: plan.zone.toText(due - 100, 600),
    reasonCode: concept(random.pick(recallReasons)),
    restriction: { period: { start: formatDate(due), end: formatDate(due + 30) } },
    input: [{ type: { text: 'recall-action' }, valueCodeableConcept: concept(random.pick(recallActions)) }],
  });
}
