/**
 * Random writes: creates, updates, patches of both kinds, deletes, all of them conditional too, and Bundles of what else
 * there is. What they bring is what is planted, changed a little, so that they are about what is hidden.
 */
import fc, { type Arbitrary } from 'fast-check';
import type { Focus } from './focus.ts';
import type { Planted } from './planted.ts';
import { mostly, type Pair, type SearchGrammar } from './search-grammar.ts';
import type { Leaf, Vocabulary } from './vocabulary.ts';

export interface WriteRequest {
  readonly way: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly ifNoneExist?: string;
}

interface Grammar {
  readonly words: Vocabulary;
  readonly focus: Focus;
  readonly search: SearchGrammar;
}

const jsonPatch = { 'content-type': 'application/json-patch+json' };
const entriesMax = 3;

export function writeGrammar(words: Vocabulary, focus: Focus, search: SearchGrammar): Arbitrary<WriteRequest> {
  const grammar: Grammar = { words, focus, search };
  const single = singleWrite(grammar);
  return fc.oneof({ arbitrary: single, weight: 5 }, { arbitrary: bundleOf(grammar, single), weight: 2 });
}

function singleWrite(grammar: Grammar): Arbitrary<WriteRequest> {
  return fc.oneof(
    { arbitrary: createOf(grammar), weight: 4 },
    { arbitrary: updateOf(grammar), weight: 3 },
    { arbitrary: patchOf(grammar), weight: 6 },
    { arbitrary: deleteOf(grammar), weight: 2 },
    { arbitrary: brokenOf(grammar), weight: 1 },
  );
}

function write(way: string, method: string, path: string, body?: unknown, headers = {}): WriteRequest {
  return { way, method, path, headers, ...(body === undefined ? {} : { body }) };
}

/** Mostly the type that the secrets are about, or another that the caller may write. */
function typeOf({ words, focus }: Grammar): Arbitrary<string> {
  const any = mostly(focus.written, fc.constantFrom(...words.types));
  return fc.oneof({ arbitrary: fc.constant(words.about), weight: 3 }, { arbitrary: any, weight: 2 });
}

/** Mostly one criterion. */
function criteriaOn({ search }: Grammar, type: string): Arbitrary<string> {
  const one = search.criterion(type).map((pair): readonly Pair[] => [pair]);
  return fc
    .oneof({ arbitrary: one, weight: 8 }, { arbitrary: fc.array(search.criterion(type), { maxLength: 2 }), weight: 2 })
    .map((pairs: readonly Pair[]) => new URLSearchParams(pairs.map(([name, value]) => [name, value])).toString());
}

/** A planted resource of the type, without one of its elements or with one of another, under the id. */
function resourceOf({ words }: Grammar, type: string): Arbitrary<Planted> {
  const planted = words.records.filter(({ resourceType }) => resourceType === type);
  const known = planted.length > 0 ? planted : [{ resourceType: type, id: 'x' }];
  return fc
    .tuple(fc.constantFrom(...known), fc.nat({ max: 20 }), fc.constantFrom(...known))
    .map(([record, at, other]) => {
      const name = Object.keys(record).filter((key) => key !== 'resourceType' && key !== 'id')[at];
      if (name === undefined) return record;
      const { [name]: _left, ...rest } = record;
      const value = other[name];
      return {
        ...rest,
        resourceType: record.resourceType,
        id: record.id,
        ...(value === undefined ? {} : { [name]: value }),
      };
    });
}

function createOf(grammar: Grammar): Arbitrary<WriteRequest> {
  return typeOf(grammar).chain((type) =>
    fc
      .tuple(resourceOf(grammar, type), criteriaOn(grammar, type), fc.boolean())
      .map(([body, criteria, isConditional]) =>
        isConditional
          ? { ...write('conditional create', 'POST', type, body), ifNoneExist: criteria }
          : write('create', 'POST', type, body),
      ),
  );
}

function updateOf(grammar: Grammar): Arbitrary<WriteRequest> {
  return typeOf(grammar).chain((type) =>
    fc
      .tuple(
        resourceOf(grammar, type),
        criteriaOn(grammar, type),
        fc.constantFrom('only', 'hidden', 'gone', 'only', ''),
        fc.nat({ max: 3 }),
      )
      .map(([body, criteria, id, how]) => {
        if (how === 0) return write('conditional update', 'PUT', `${type}?${criteria}`, body);
        const named = id === '' ? body : { ...body, id };
        return write('update', 'PUT', `${type}/${named.id}`, how === 1 ? body : named);
      }),
  );
}

function deleteOf(grammar: Grammar): Arbitrary<WriteRequest> {
  return typeOf(grammar).chain((type) =>
    fc
      .tuple(grammar.search.name, criteriaOn(grammar, type), fc.boolean())
      .map(([name, criteria, isConditional]) =>
        isConditional ? write('conditional delete', 'DELETE', `${type}?${criteria}`) : write('delete', 'DELETE', name),
      ),
  );
}

function patchOf(grammar: Grammar): Arbitrary<WriteRequest> {
  return typeOf(grammar).chain((type) => {
    const ids = grammar.words.records.filter(({ resourceType }) => resourceType === type).map(({ id }) => id);
    const place = fc.oneof(
      {
        arbitrary: fc.constantFrom(...ids, 'none', '{made}').map((id) => ['patch', `${type}/${id}`] as const),
        weight: 3,
      },
      {
        arbitrary: criteriaOn(grammar, type).map((query) => ['conditional patch', `${type}?${query}`] as const),
        weight: 1,
      },
    );
    const leaves = grammar.words.leaves.get(type) ?? [{ pointer: '/status', value: 'active' }];
    return fc.oneof(
      {
        arbitrary: fc
          .tuple(place, fc.array(jsonStep(leaves), { minLength: 1, maxLength: 2 }))
          .map(([[way, path], steps]) => write(way, 'PATCH', path, steps, jsonPatch)),
        weight: 3,
      },
      {
        arbitrary: fc
          .tuple(place, pathStep(type, leaves))
          .map(([[way, path], body]) => write(way, 'PATCH', path, body)),
        weight: 1,
      },
    );
  });
}

/** One operation of JSON Patch (RFC 6902), at what is planted somewhere. */
function jsonStep(leaves: readonly Leaf[]): Arbitrary<object> {
  const leaf = fc.constantFrom(...leaves);
  const open = fc.constantFrom('/name/0/family', '/birthDate', '/gender', '/active', '/status', '/priority', '/name/-');
  const path = fc.oneof(
    leaf.map(({ pointer }) => pointer),
    open,
  );
  const value = fc.oneof(
    leaf.map((each) => each.value),
    fc.constantFrom('alpha', 'bravo', true, [], {}),
  );
  return fc.oneof(
    { arbitrary: leaf.map((each) => ({ op: 'test', path: each.pointer, value: each.value })), weight: 4 },
    { arbitrary: fc.record({ op: fc.constantFrom('test', 'add', 'replace'), path, value }), weight: 2 },
    { arbitrary: path.map((at) => ({ op: 'remove', path: at })), weight: 2 },
    { arbitrary: fc.record({ op: fc.constantFrom('copy', 'move'), from: path, path: open }), weight: 2 },
  );
}

/** One operation of FHIRPath Patch (https://hl7.org/fhir/R4/fhirpatch.html). */
function pathStep(type: string, leaves: readonly Leaf[]): Arbitrary<object> {
  const element = fc.constantFrom(...leaves).map(({ pointer }) => pointer.split('/')[1] ?? 'id');
  const path = fc
    .tuple(element, fc.constantFrom('', "where(value = 'alpha')", 'first()', "where(system = 'x')", 'value'))
    .map(([name, rest]) => `${type}.${name}${rest === '' ? '' : `.${rest}`}`);
  return fc.tuple(fc.constantFrom('delete', 'replace', 'add', 'insert', 'x'), path).map(([kind, at]) => ({
    resourceType: 'Parameters',
    parameter: [
      {
        name: 'operation',
        part: [
          { name: 'type', valueCode: kind },
          { name: 'path', valueString: at },
          ...(kind === 'delete' ? [] : [{ name: 'value', valueString: 'alpha' }]),
        ],
      },
    ],
  }));
}

function brokenOf({ search }: Grammar): Arbitrary<WriteRequest> {
  const bodies = fc.constantFrom<unknown[]>(
    '{',
    '<Patient',
    [],
    null,
    { resourceType: 'Nothing' },
    { resourceType: 'Patient', x: 1 },
  );
  const types = fc.constantFrom(
    'application/fhir+json',
    'application/fhir+xml',
    'text/plain',
    'application/json-patch+json',
  );
  return fc
    .tuple(fc.constantFrom('POST', 'PUT', 'PATCH'), fc.oneof(search.type, search.name), bodies, types)
    .map(([method, path, body, type]) => write('broken', method, path, body, { 'content-type': type }));
}

/** A batch or transaction; a transaction's references may be searches. */
function bundleOf(grammar: Grammar, single: Arbitrary<WriteRequest>): Arbitrary<WriteRequest> {
  const { search } = grammar;
  const got = fc
    .oneof(
      search.type.chain((type) =>
        search
          .search(type)
          .map((pairs) => `${type}?${new URLSearchParams(pairs.map(([name, value]) => [name, value]))}`),
      ),
      search.name,
      search.name.map((name) => `${name}/_history`),
    )
    .map((url): object => ({ request: { method: 'GET', url } }));
  const written = fc
    .tuple(single, fc.option(criteriaOn(grammar, 'Patient')))
    .map(([request, criteria]) => entryOf(request, criteria));
  const entry = fc.oneof({ arbitrary: got, weight: 1 }, { arbitrary: written, weight: 1 });
  const entries = fc.oneof(
    { arbitrary: fc.array(entry, { minLength: 0, maxLength: entriesMax }), weight: 2 },
    { arbitrary: conditionalAlone(grammar), weight: 1 },
    { arbitrary: perhapsTwice(grammar), weight: 1 },
  );
  return fc
    .tuple(fc.constantFrom('batch', 'transaction', 'transaction', 'collection'), entries)
    .map(([type, entries]) =>
      write(`bundle ${type}`, 'POST', '', { resourceType: 'Bundle', type, entry: onceCreated(entries) }),
    );
}

/** What is conditional, alone: most transactions of several entries fail for one that tells nothing. */
function conditionalAlone(grammar: Grammar): Arbitrary<object[]> {
  return fc
    .tuple(createOf(grammar), criteriaOn(grammar, 'Patient'))
    .map(([request, criteria]) => [entryOf(request, request.ifNoneExist === undefined ? criteria : null)]);
}

/** A change of a resource, and of what criteria find: they may not be the same. */
function perhapsTwice(grammar: Grammar): Arbitrary<object[]> {
  const change = [{ op: 'add', path: '/active', value: true }];
  const { about } = grammar.words;
  return fc
    .tuple(grammar.search.name, criteriaOn(grammar, about))
    .map(([name, criteria]) =>
      [name, `${about}?${criteria}`].map((path) => entryOf(write('patch', 'PATCH', path, change, jsonPatch), null)),
    );
}

function entryOf({ method, path, body, ifNoneExist, headers }: WriteRequest, criteria: string | null): object {
  const resource = criteria === null ? body : withSubject(body, `Patient?${criteria}`);
  const isPatch = 'content-type' in headers && headers['content-type'] === jsonPatch['content-type'];
  const data = isPatch ? Buffer.from(JSON.stringify(body)).toString('base64') : undefined;
  return {
    request: { method, url: path, ...(ifNoneExist === undefined ? {} : { ifNoneExist }) },
    ...(data === undefined
      ? {}
      : { resource: { resourceType: 'Binary', contentType: jsonPatch['content-type'], data } }),
    ...(data !== undefined || body === undefined ? {} : { resource }),
  };
}

function withSubject(body: unknown, reference: string): unknown {
  if (typeof body !== 'object' || body === null) return body;
  if ('subject' in body) return { ...body, subject: { reference } };
  const isPerson = 'resourceType' in body && body.resourceType === 'Patient';
  return isPerson ? { ...body, link: [{ other: { reference }, type: 'seealso' }] } : body;
}

/** Ids made in one moment are in no order: one is made at most, so that the order of both worlds can be compared. */
function onceCreated(entries: readonly object[]): readonly object[] {
  const isCreate = (entry: object): boolean =>
    /"method":"POST"|"method":"PUT","url":"[A-Za-z]*\?/.test(JSON.stringify(entry));
  const first = entries.find(isCreate);
  return entries.filter((entry) => entry === first || !isCreate(entry));
}
