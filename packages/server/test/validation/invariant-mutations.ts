/**
 * Changes of a resource that its invariants may speak of: elements that go, come, or get another value of their type. The
 * same seed gives the same changes.
 */
import {
  buildJsonName,
  type ElementDefinition,
  type ElementType,
  findTypeDefinition,
  findValueSetCodings,
  invariantPaths,
  isRawDecimal,
  isSubtypeOf,
  type JsonObject,
  type JsonValue,
  listInvariantsAt,
  type TypeDefinition,
} from '@praxis/fhir';

/** A number from 0 up to 1. */
export type Random = () => number;

/** https://en.wikipedia.org/wiki/Linear_congruential_generator */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export function pick<T>(random: Random, list: readonly T[]): T | undefined {
  return list[Math.floor(random() * list.length)];
}

interface Place {
  readonly object: JsonObject;
  readonly definition: TypeDefinition;
}

/**
 * A resource of a type with elements at random, mostly those that its invariants speak of, with the texts that they name: its
 * structure is right but for required elements that cannot be made.
 */
export function makeResource(type: string, random: Random): JsonObject {
  return { resourceType: type, ...makeObject(findTypeDefinition(type), random, 5) };
}

interface Wording {
  readonly words: ReadonlySet<string>;
  readonly texts: readonly string[];
}

const wordings = new Map<string, Wording>();

/** What the invariants of a type and of the elements inside say. */
function wordingOf(definition: TypeDefinition): Wording {
  const root = definition.name.replace(/\..*/, '');
  let found = wordings.get(root);
  if (found === undefined) {
    const paths = invariantPaths.filter((path) => path === root || path.startsWith(`${root}.`));
    const all = paths.flatMap(listInvariantsAt).map(({ expression }) => expression);
    const texts = all.flatMap((each) => [...each.matchAll(/'((?:[^'\\])*)'/g)].map(([, text = '']) => text));
    found = { words: new Set([...all, ...paths].flatMap((each) => each.match(/[A-Za-z]+/g) ?? [])), texts };
    wordings.set(root, found);
  }
  return found;
}

/** Makes `count` changes in a resource. */
export function mutate(resource: JsonObject, random: Random, count: number): void {
  for (let made = 0; made < count; made += 1) {
    const place = pick(random, placesOf(resource));
    if (place === undefined) return;
    const { object, definition } = place;
    const elements = [...definition.elements.values()].filter(({ name }) => name !== 'id' && name !== 'contained');
    const element = pick(random, elements);
    if (element === undefined) continue;
    const present = element.types
      .map((type) => buildJsonName(element, type))
      .find((name) => object[name] !== undefined);
    if (present !== undefined && random() < 0.6) {
      delete object[present];
      delete object[`_${present}`];
      continue;
    }
    if (present !== undefined) delete object[present];
    const type = pick(random, element.types);
    if (type === undefined) continue;
    const value = makeValue(element, type, random, 2);
    if (value === undefined) continue;
    object[buildJsonName(element, type)] = element.max > 1 ? withOther(value, element, type, random) : value;
  }
}

function withOther(value: JsonValue, element: ElementDefinition, type: ElementType, random: Random): JsonValue {
  const other = random() < 0.5 ? undefined : makeValue(element, type, random, 2);
  return other === undefined ? [value] : [value, other];
}

/** All objects of a resource. */
function placesOf(resource: JsonObject): Place[] {
  const definition = findTypeDefinition(String(resource['resourceType']));
  return definition === undefined ? [] : placesIn({ object: resource, definition });
}

function placesIn(place: Place): Place[] {
  const places = [place];
  for (const element of place.definition.elements.values()) {
    for (const type of element.types) {
      const value = place.object[buildJsonName(element, type)];
      const definition = element.children ?? findTypeDefinition(type.code);
      for (const object of Array.isArray(value) ? value : [value]) {
        if (!isObject(object) || definition === undefined) continue;
        places.push(...(definition.kind === 'resource' ? placesOf(object) : placesIn({ object, definition })));
      }
    }
  }
  return places;
}

/** None is near a moment below: whether a date is before it would go by the time zone of the process. */
const dates = ['2019', '2020-02', '2020-02-28', '2020-02-29', '2021-12-31'];
const moments = [
  '2020-01-05T10:00:00Z',
  '2020-01-05T10:00:00.0Z',
  '2020-01-05T10:00:00.250Z',
  '2020-01-05T12:00:00+02:00',
  '2020-06-15T23:00:00-05:00',
];

const primitives: Readonly<Record<string, readonly JsonValue[]>> = {
  boolean: [true, false],
  integer: [-1, 0, 1, 2, 101],
  positiveInt: [1, 2, 3],
  unsignedInt: [0, 1, 2],
  decimal: [-1, 0, 0.5, 2, 101, 150],
  date: dates,
  dateTime: [...dates, ...moments],
  instant: moments,
  time: ['08:00:00', '12:30:00'],
  base64Binary: ['AAAA'],
  id: ['a', 'b'],
  uuid: ['urn:uuid:c757873d-ec9a-4326-a141-556f43239520'],
  oid: ['urn:oid:1.2.3'],
  uri: ['http://example.org/a', 'http://hl7.org/fhir/StructureDefinition/x', 'http://unitsofmeasure.org', 'urn:x:y'],
  url: ['http://example.org/a', 'http://example.org/_history/1'],
  canonical: ['http://example.org/a', 'http://example.org/b'],
  string: ['x', 'X y', '*', '1', 'Patient.name', 'a.b c'],
  markdown: ['x'],
  code: ['x', 'home', 'exists', 'document', 'batch', 'history', 'display', 'group', '%', '1', 'string', 'Reference'],
};

const references = [
  'Patient/1',
  'Practitioner/1',
  'Organization/1',
  'http://example.org/fhir/Group/1',
  'urn:oid:1.2.3',
];

/** A value of an element's type; undefined for resources and what is too deep. */
function makeValue(
  element: ElementDefinition,
  type: ElementType,
  random: Random,
  depth: number,
  texts: readonly string[] = [],
): JsonValue | undefined {
  const codings = codingsOf(element);
  if (type.code === 'Reference') return { reference: pick(random, references) ?? '' };
  if (type.code === 'CodeableConcept') {
    const said = { system: pick(random, texts) ?? 'urn:x:y', code: pick(random, texts) ?? 'x' };
    const coding = random() < 0.5 ? said : pick(random, codings);
    return coding === undefined ? { text: 'x' } : { coding: [coding] };
  }
  if (isSubtypeOf(type.code, 'Quantity')) return makeQuantity(random);
  if (isSubtypeOf(type.code, 'Resource') || type.code === 'xhtml' || depth === 0) return undefined;
  if (texts.length > 0 && random() < 0.5 && isSubtypeOf(type.code, 'string')) return pick(random, texts);
  if (type.code === 'code' && codings.length > 0 && random() < 0.8) return pick(random, codings)?.code;
  const pool = primitives[type.code];
  if (pool !== undefined) return pick(random, pool);
  return makeObject(element.children ?? findTypeDefinition(type.code), random, depth);
}

const unmade = new Set(['id', 'meta', 'text', 'contained', 'extension', 'modifierExtension']);

function makeObject(definition: TypeDefinition | undefined, random: Random, depth: number): JsonObject | undefined {
  if (definition === undefined) return undefined;
  const { words, texts } = wordingOf(definition);
  const object: JsonObject = {};
  for (const element of definition.elements.values()) {
    if (unmade.has(element.name) || random() > (words.has(element.name) ? 0.6 : 0.1)) continue;
    const type = pick(random, element.types);
    if (type === undefined) continue;
    const count = element.max > 1 ? 1 + Math.floor(random() * 3) : 1;
    const values = Array.from({ length: count }, () => makeValue(element, type, random, depth - 1, texts));
    const made = values.filter((value) => value !== undefined);
    const [first] = made;
    if (first !== undefined) object[buildJsonName(element, type)] = element.max > 1 ? made : first;
  }
  return Object.keys(object).length === 0 ? undefined : object;
}

function makeQuantity(random: Random): JsonObject {
  const quantity: JsonObject = {};
  if (random() < 0.9) quantity['value'] = pick(random, [-2, 0, 1, 2.5, 37, 1000]) ?? 0;
  if (random() < 0.8) quantity['system'] = 'http://unitsofmeasure.org';
  if (random() < 0.8) quantity['code'] = pick(random, ['1', 'mg', 'g', 'a', 'd', 'h', '%']) ?? '1';
  return Object.keys(quantity).length === 0 ? { value: 1 } : quantity;
}

function codingsOf({ binding }: ElementDefinition) {
  const sets = binding === undefined ? undefined : findValueSetCodings(binding);
  return [...(sets ?? [])].flatMap(([system, codes]) => [...codes].map((code) => ({ system, code })));
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawDecimal(value);
}
