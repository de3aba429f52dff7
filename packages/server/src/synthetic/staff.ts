/**
 * What a practice has before its first patient: itself, payers, locations, practitioners and their roles and schedules,
 * referring practitioners, insurance plans, value sets.
 */
import { practiceExtensions } from '@praxis/fhir';
import { generateAddress, generateCompanyName, generatePerson } from './people.ts';
import { assignLocation, ids, type PracticePlan } from './plan.ts';
import { openRandom } from './random.ts';
import { reference, resource, type SyntheticResource } from './resource.ts';
import { concept, firmValueSets, insuranceTypes, systems, type Term } from './vocabulary.ts';

const dermatology: Term = { system: systems.taxonomy, code: '207N00000X', display: 'Dermatology' };
const familyMedicine: Term = { system: systems.taxonomy, code: '207Q00000X', display: 'Family Medicine' };
/** Marks a practitioner of another practice who refers patients. */
const referring = {
  url: practiceExtensions.practitionerType,
  valueCodeableConcept: { coding: [{ system: `${systems.firm}/practitioner-type`, code: 'ref' }] },
};
const organizationType = `${systems.hl7}/organization-type`;

/** In an order in which every reference points backwards. */
export function* generateStaff(plan: PracticePlan): Generator<SyntheticResource> {
  yield* organizations(plan);
  for (let index = 0; index < plan.locations; index += 1) yield location(plan, index);
  for (let index = 0; index < plan.practitioners; index += 1) {
    yield practitioner(plan, ids.practitioner(index), 'practitioner', index);
    yield role(plan, index);
    yield schedule(plan, index);
  }
  for (let index = 0; index < plan.referrers; index += 1)
    yield practitioner(plan, ids.referrer(index), 'referrer', index);
  for (const [name, terms] of Object.entries(firmValueSets)) yield valueSet(name, terms);
}

function* organizations(plan: PracticePlan): Generator<SyntheticResource> {
  const random = openRandom(plan.seed, plan.firm, 'organizations');
  yield resource('Organization', ids.practice, {
    identifier: [npi(random.integer(0, 99_999_999))],
    active: true,
    type: [concept({ system: organizationType, code: 'prov', display: 'Healthcare Provider' })],
    name: plan.name,
    address: [generateAddress(random)],
  });
  for (let index = 0; index < plan.payers; index += 1) {
    const name = `${generateCompanyName(random)} Health`;
    yield resource('Organization', ids.payer(index), {
      active: true,
      type: [concept({ system: organizationType, code: 'pay', display: 'Payer' })],
      name,
    });
    yield resource('InsurancePlan', ids.plan(index), {
      status: 'active',
      type: [concept(random.pick(insuranceTypes))],
      name: `${name} ${random.pick(['PPO', 'HMO', 'EPO'])}`,
      ownedBy: reference('Organization', ids.payer(index)),
    });
  }
}

/** A National Provider Identifier with its check digit (Luhn over 80840 and nine digits). */
function npi(number: number): { system: string; value: string } {
  const digits = `1${String(number).padStart(8, '0')}`;
  let sum = 24; // what the constant prefix 80840 adds
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[at]);
    const doubled = at % 2 === 0 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return { system: systems.npi, value: `${digits}${(10 - (sum % 10)) % 10}` };
}

function location(plan: PracticePlan, index: number): SyntheticResource {
  const random = openRandom(plan.seed, plan.firm, 'location', index);
  const { address: where, telecom } = generatePerson(random);
  return resource('Location', ids.location(index), {
    identifier: [{ type: { coding: [{ system: systems.identifierType, code: 'FI' }] }, value: ids.location(index) }],
    status: 'active',
    name: `${plan.name} ${random.pick(['North', 'South', 'Downtown', 'Lakeside', 'Hillside'])} ${index + 1}`,
    mode: 'instance',
    telecom: telecom.slice(0, 1).map((point) => ({ ...point, use: 'work' })),
    address: { ...where, use: 'work' },
    managingOrganization: reference('Organization', ids.practice),
  });
}

function practitioner(plan: PracticePlan, id: string, kind: string, index: number): SyntheticResource {
  const random = openRandom(plan.seed, plan.firm, kind, index);
  const { gender, name, telecom } = generatePerson(random);
  return resource('Practitioner', id, {
    ...(kind === 'referrer' ? { extension: [referring] } : {}),
    identifier: [
      npi(random.integer(0, 99_999_999)),
      { type: { coding: [{ system: systems.identifierType, code: 'PRN' }] }, value: id },
    ],
    active: true,
    name: [{ ...name, prefix: ['Dr.'] }],
    telecom: telecom.map((point) => ({ ...point, use: 'work' })),
    gender,
    qualification: [{ code: concept(kind === 'referrer' ? familyMedicine : dermatology) }],
  });
}

function role(plan: PracticePlan, index: number): SyntheticResource {
  return resource('PractitionerRole', ids.practitioner(index), {
    active: true,
    practitioner: reference('Practitioner', ids.practitioner(index)),
    organization: reference('Organization', ids.practice),
    code: [concept({ system: `${systems.hl7}/practitioner-role`, code: 'doctor', display: 'Doctor' })],
    specialty: [concept(dermatology)],
    location: [reference('Location', ids.location(assignLocation(plan, index)))],
  });
}

function schedule(plan: PracticePlan, index: number): SyntheticResource {
  return resource('Schedule', ids.practitioner(index), {
    active: true,
    specialty: [concept(dermatology)],
    actor: [
      reference('Practitioner', ids.practitioner(index)),
      reference('Location', ids.location(assignLocation(plan, index))),
    ],
  });
}

function valueSet(name: string, terms: readonly Term[]): SyntheticResource {
  const words = name.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const concepts = terms.map((term) => ({ code: term.code, display: term.display }));
  return resource('ValueSet', name, {
    url: `https://praxis.health/fhir/ValueSet/${name}`,
    name: words.join(''),
    status: 'active',
    compose: { include: [{ system: terms[0]?.system ?? '', concept: concepts }] },
  });
}
