/**
 * Ways to break a valid resource, derived from the definitions: for every element that R4 defines, what it may not be.
 * https://hl7.org/fhir/R4/json.html · https://hl7.org/fhir/R4/datatypes.html
 */
import {
  buildJsonName,
  type ElementDefinition,
  findElementByJsonName,
  findTypeDefinition,
  findValueSetCodes,
  isPrimitiveType,
  resourceTypes,
  type TypeDefinition,
} from '../src/definitions.ts';
import { isRawDecimal, type JsonObject, type JsonValue } from '../src/json.ts';
import type { ValidationRule } from '../src/validate.ts';

/** An object of a resource and what R4 says of it. */
export interface Place {
  readonly object: JsonObject;
  readonly definition: TypeDefinition;
  /** As in issues: 'Patient.contact[0]'. */
  readonly path: string;
}

/** One change: the key that gets another value (undefined: is removed), and what has to be reported for it. */
export interface Mutation {
  readonly object: JsonObject;
  readonly key: string;
  readonly value: JsonValue | undefined;
  readonly path: string;
  readonly rules: readonly ValidationRule[];
}

export type Operator = (place: Place) => readonly Mutation[];

/** All objects of a resource, in its order. */
export function placesOf(resource: JsonObject, path = String(resource['resourceType'])): Place[] {
  const definition = findTypeDefinition(String(resource['resourceType']));
  return definition === undefined ? [] : placesIn({ object: resource, definition, path });
}

function placesIn(place: Place): Place[] {
  const places = [place];
  for (const { element, typeCode, key, path } of membersOf(place)) {
    const definition = element.children ?? findTypeDefinition(typeCode);
    for (const [index, value] of listOf(place.object[key]).entries()) {
      if (!isObject(value) || definition === undefined) continue;
      const at = element.max > 1 ? `${path}[${index}]` : path;
      if (definition.kind === 'resource') places.push(...placesOf(value, at));
      else places.push(...placesIn({ object: value, definition, path: at }));
    }
  }
  return places;
}

interface Member {
  readonly element: ElementDefinition;
  readonly typeCode: string;
  readonly key: string;
  readonly path: string;
  readonly value: JsonValue;
}

function membersOf({ object, definition, path }: Place): Member[] {
  return Object.keys(object).flatMap((key) => {
    const found = findElementByJsonName(definition, key);
    const value = object[key];
    if (found === undefined || value === undefined) return [];
    const { element, type } = found;
    return [{ element, typeCode: type.code, key, path: `${path}.${element.name}`, value }];
  });
}

/** The first value of a member, with its path and how to put another in its place. */
function first(member: Member, value: JsonValue): Pick<Mutation, 'key' | 'value' | 'path'> {
  if (member.element.max <= 1) return { key: member.key, value, path: member.path };
  const rest = Array.isArray(member.value) ? member.value.slice(1) : [];
  return { key: member.key, value: [value, ...rest], path: `${member.path}[0]` };
}

function eachMember(
  place: Place,
  mutate: (member: Member) => Omit<Mutation, 'object'> | undefined,
): readonly Mutation[] {
  return membersOf(place).flatMap((member) => {
    const mutation = mutate(member);
    return mutation === undefined ? [] : [{ object: place.object, ...mutation }];
  });
}

const dateTypes: ReadonlySet<string> = new Set(['date', 'dateTime', 'instant', 'time']);

/** Primitive type → a value that is no value of it. */
const badPrimitives: Readonly<Record<string, JsonValue>> = {
  boolean: 'true',
  integer: 1.5,
  positiveInt: 0,
  unsignedInt: -1,
  decimal: '1.0',
  code: ' padded ',
  id: 'not an id',
  oid: 'urn:oid:x',
  uuid: 'urn:uuid:x',
  uri: 'with space',
  url: 'with space',
  canonical: 'with space',
  base64Binary: '?',
  string: '',
  markdown: '',
};

export const operators: Readonly<Record<string, Operator>> = {
  'remove a required element': (place) =>
    eachMember(place, ({ element, key, path }) =>
      element.min > 0 && place.object[`_${key}`] === undefined
        ? { key, value: undefined, path, rules: ['cardinality-min'] }
        : undefined,
    ),
  'give another JSON type': (place) =>
    eachMember(place, (member) => {
      const wrong: JsonValue = isObject(listOf(member.value)[0]) ? 'text' : { nonsense: 1 };
      return { ...first(member, wrong), rules: ['type', 'resource-type', 'narrative'] };
    }),
  'add an unknown element': ({ object, path }) => [
    { object, key: 'nonsense', value: 1, path: `${path}.nonsense`, rules: ['unknown-element'] },
  ],
  'give a code outside of the required value set': (place) =>
    eachMember(place, (member) => {
      const { element, typeCode } = member;
      if (element.binding === undefined || findValueSetCodes(element.binding) === undefined) return undefined;
      const coding = { system: 'http://example.org/nowhere', code: 'nonsense' };
      if (isPrimitiveType(typeCode)) return { ...first(member, 'nonsense'), rules: ['required-binding'] };
      if (typeCode === 'CodeableConcept')
        return { ...first(member, { coding: [coding] }), rules: ['required-binding'] };
      return typeCode === 'Coding' ? { ...first(member, coding), rules: ['required-binding'] } : undefined;
    }),
  'refer to another type': (place) =>
    eachMember(place, (member) => {
      const targets = member.element.types.find(({ code }) => code === 'Reference')?.targets;
      const other = resourceTypes.find((type) => !targets?.includes(type));
      if (member.typeCode !== 'Reference' || targets === undefined || other === undefined) return undefined;
      const { path, ...change } = first(member, { reference: `${other}/x` });
      return { ...change, path: `${path}.reference`, rules: ['reference-target'] };
    }),
  'refer to nothing': (place) =>
    eachMember(place, (member) => {
      if (member.typeCode !== 'Reference') return undefined;
      const { path, ...change } = first(member, { reference: '#no-such-resource' });
      return { ...change, path: `${path}.reference`, rules: ['reference'] };
    }),
  'give a date that does not exist': (place) =>
    eachMember(place, (member) =>
      dateTypes.has(member.typeCode)
        ? { ...first(member, member.typeCode === 'time' ? '25:00:00' : '2021-02-30'), rules: ['format'] }
        : undefined,
    ),
  'give a value that its type does not have': (place) =>
    eachMember(place, (member) => {
      const wrong = badPrimitives[member.typeCode];
      if (wrong === undefined || member.element.path === 'Extension.url') return undefined;
      return { ...first(member, wrong), rules: ['format', 'type', 'id', 'required-binding', 'empty'] };
    }),
  'repeat what occurs once': (place) =>
    eachMember(place, ({ element, key, path, value }) =>
      element.max === 1 ? { key, value: [value, value], path, rules: ['cardinality-max'] } : undefined,
    ),
  'take the list away from what repeats': (place) =>
    eachMember(place, ({ element, key, path, value }) =>
      element.max > 1 && Array.isArray(value) ? { key, value: value[0] ?? null, path, rules: ['type'] } : undefined,
    ),
  'empty a list': (place) =>
    eachMember(place, ({ element, key, path }) =>
      element.max > 1 ? { key, value: [], path, rules: ['empty'] } : undefined,
    ),
  'choose twice': (place) =>
    eachMember(place, ({ element, key, path }) => {
      const other = element.types.find((type) => buildJsonName(element, type) !== key);
      if (!element.choice || other === undefined) return undefined;
      return { key: buildJsonName(element, other), value: 'x', path, rules: ['choice'] };
    }),
};

/** The paths and rules that `report` gives while the mutation is in place. */
export function whileMutated<T>({ object, key, value }: Mutation, report: () => T): T {
  const had = Object.hasOwn(object, key);
  const before = object[key];
  if (value === undefined) delete object[key];
  else object[key] = value;
  try {
    return report();
  } finally {
    if (had && before !== undefined) object[key] = before;
    else delete object[key];
  }
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawDecimal(value);
}
