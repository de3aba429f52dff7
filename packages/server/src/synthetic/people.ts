/**
 * Names, addresses and contact points from a faker library, seeded per person.
 */

import { base, en, en_US, Faker } from '@faker-js/faker';
import type { JsonObject } from '@praxis/fhir';
import type { Random } from './random.ts';

const faker = new Faker({ locale: [en_US, en, base] });

export interface Person {
  readonly gender: 'female' | 'male' | 'unknown';
  readonly name: JsonObject;
  readonly family: string;
  readonly telecom: JsonObject[];
  readonly address: JsonObject;
}

/** A person; `family` keeps a household's name. */
export function generatePerson(random: Random, family?: string): Person {
  faker.seed(random.integer(0, 0x7fffffff));
  const gender = random.chance(0.02) ? 'unknown' : random.chance(0.53) ? 'female' : 'male';
  const sex = gender === 'unknown' ? undefined : gender;
  const surname = family ?? faker.person.lastName();
  const given = random.chance(0.4)
    ? [faker.person.firstName(sex), faker.person.middleName(sex)]
    : [faker.person.firstName(sex)];
  return {
    gender,
    family: surname,
    name: { use: 'official', family: surname, given },
    telecom: telecom(random, surname, given[0] ?? ''),
    address: address('home'),
  };
}

/** 555-01xx numbers and example domains: nobody's. */
function telecom(random: Random, family: string, given: string): JsonObject[] {
  const phone = `(${random.integer(201, 989)}) 555-01${String(random.integer(0, 99)).padStart(2, '0')}`;
  const mail = `${given}.${family}`.toLowerCase().replaceAll(/[^a-z.]/g, '');
  const points: JsonObject[] = [{ system: 'phone', value: phone, use: random.chance(0.7) ? 'mobile' : 'home' }];
  if (random.chance(0.8)) points.push({ system: 'email', value: `${mail}${random.integer(1, 999)}@example.com` });
  return points;
}

/** The address of a business; `person` has one already. */
export function generateAddress(random: Random): JsonObject {
  faker.seed(random.integer(0, 0x7fffffff));
  return address('work');
}

function address(use: 'home' | 'work'): JsonObject {
  const state = faker.location.state({ abbreviated: true });
  return {
    use,
    line: [faker.location.streetAddress()],
    city: faker.location.city(),
    state,
    postalCode: faker.location.zipCode('#####'),
    country: 'US',
  };
}

/** The name of a company, e.g. an insurer. */
export function generateCompanyName(random: Random): string {
  faker.seed(random.integer(0, 0x7fffffff));
  return faker.company.name();
}
