/**
 * Random calls of operations: every one, at every level, by GET and POST, with in-parameters that it declares and others.
 * What they name is what is planted: value sets, code systems, profiles, keys, and whole resources.
 */
import { isPrimitiveType, resourceTypesWithEndpoint } from '@praxis/fhir';
import fc, { type Arbitrary } from 'fast-check';
import type { Operation, OperationLevel } from '../../../src/operations/operation.ts';
import type { Planted } from './planted.ts';
import type { Request } from './request.ts';
import { mostly, oftenFrom, type Pair, type SearchGrammar } from './search-grammar.ts';
import type { Vocabulary } from './vocabulary.ts';

export function operationWay({ name }: Operation): string {
  return `operation $${name}`;
}

/** A parameter as a query has it, or as Parameters have it. */
type Input = { readonly pair: Pair } | { readonly parameter: object };

/** A call of one of the operations. */
export function operationOf(
  words: Vocabulary,
  grammar: SearchGrammar,
  operations: readonly Operation[],
): Arbitrary<Request> {
  return fc.constantFrom(...operations).chain((operation) =>
    typeOf(operation, grammar).chain((type) =>
      fc
        .tuple(
          fc.constantFrom<OperationLevel[]>(...operation.levels, ...operation.levels, 'type', 'instance'),
          idOf(words, type, grammar),
          inputsOf(operation, words, type, grammar),
          fc.boolean(),
        )
        .map(([level, id, inputs, isGet]) => {
          const at = level === 'system' ? '' : level === 'type' ? `${type}/` : `${type}/${id}/`;
          const named = level === 'instance' ? inputs.map((input) => withId(input, id)) : inputs;
          return call(operation, `${at}$${operation.name}`, named, isGet);
        }),
    ),
  );
}

/** A resource that is sent is that of the path. */
function withId(input: Input, id: string): Input {
  if (!('parameter' in input) || !('resource' in input.parameter)) return input;
  return { parameter: { ...input.parameter, resource: { ...Object(input.parameter.resource), id } } };
}

function call(operation: Operation, path: string, inputs: readonly Input[], isGet: boolean): Request {
  const way = operationWay(operation);
  const pairs = inputs.flatMap((input) => ('pair' in input ? [input.pair] : []));
  if (isGet && !operation.affectsState && pairs.length === inputs.length) {
    const query = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString();
    return { way, method: 'GET', path: query === '' ? path : `${path}?${query}`, headers: {} };
  }
  const meta = { name: 'meta', valueMeta: { tag: [{ code: 'x' }] } };
  const sent = inputs.map((input) => ('pair' in input ? parameterOf(operation, input.pair) : input.parameter));
  const parameter = operation.affectsState ? [meta] : sent;
  return { way, method: 'POST', path, body: { resourceType: 'Parameters', parameter }, headers: {} };
}

/** With the type that the operation declares for the name. */
function parameterOf({ parameters }: Operation, [name, value]: Pair): object {
  const type = parameters.find((each) => each.use === 'in' && each.name === name)?.type;
  const suffix = type === undefined || !isPrimitiveType(type) ? 'String' : type.charAt(0).toUpperCase() + type.slice(1);
  const given = suffix === 'Integer' && /^-?\d+$/.test(value) ? Number(value) : value;
  return { name, [`value${suffix}`]: suffix === 'Boolean' ? value === 'true' : given };
}

function typeOf({ types }: Operation, { type }: SearchGrammar): Arbitrary<string> {
  return types === 'all' ? type : oftenFrom(types, resourceTypesWithEndpoint);
}

/** Mostly of what is planted of the type. */
function idOf({ names }: Vocabulary, type: string, { id }: SearchGrammar): Arbitrary<string> {
  const ids = names.filter((name) => name.startsWith(`${type}/`)).map((name) => name.slice(type.length + 1));
  // What is there in one world alone, more often than the rest.
  return mostly([...ids, ...ids.filter((each) => each === 'only'), ...ids.filter((each) => each === 'only')], id);
}

const sets = ['set', 'genders', 'open-set', 'taking', 'none'].map((id) => `http://example.org/${id}`);
const systems = ['system', 'open-system'].map((id) => `http://example.org/${id}`);
const codes = ['alpha', 'bravo', 'root', 'seen', 'female', 'male'];

/** By operation, or for all, what stands in a parameter. */
const inputs: Readonly<Record<string, readonly string[]>> = {
  mode: ['create', 'update', 'update', 'delete', 'x'],
  url: [...sets, ...systems],
  system: [...systems, 'http://hl7.org/fhir/administrative-gender'],
  code: codes,
  id: ['note', 'none'],
  profile: ['http://example.org/profile'],
  key: ['alpha', '"alpha"', 'bravo', 'own'],
  includeDefinition: ['true'],
  _type: ['Patient,Observation', 'ServiceRequest', 'Patient'],
  _wait: ['0'],
  since: ['2020-01-01', '2020-01-01', '2026-11-21T09:30:00Z'],
};

/** Up to three; of $validate mostly what it judges, and as what. */
function inputsOf(
  operation: Operation,
  words: Vocabulary,
  type: string,
  grammar: SearchGrammar,
): Arbitrary<readonly Input[]> {
  const any = fc.array(inputOf(operation, words, type, grammar), { maxLength: 3 });
  const resource = wholeOf('resource', 'Resource', words, type);
  if (operation.name !== 'validate' || resource === undefined) return any;
  const mode = fc.constantFrom(...(inputs.mode ?? [])).map((value): Input => ({ pair: ['mode', value] }));
  return fc.oneof(any, fc.tuple(resource, mode));
}

/** A parameter of the operation, or one of a search. */
function inputOf(operation: Operation, words: Vocabulary, type: string, grammar: SearchGrammar): Arbitrary<Input> {
  const { parameters, further } = operation;
  const declared = parameters.filter(({ use }) => use === 'in');
  const names = declared.filter(({ type: of }) => of !== undefined && isPrimitiveType(of)).map(({ name }) => name);
  const known = names.filter((name) => inputs[name] !== undefined);
  const named = mostly(known, fc.constantFrom(...names, '_count')).chain((name) =>
    mostly(inputs[name] ?? ['1', '2026-01-01'], grammar.word).map((value): Pair => [name, value]),
  );
  const subject = fc.constantFrom<Pair[]>(
    ['patient', 'stone'],
    ['subject', 'Patient/marble'],
    ['category', 'vital-signs'],
    ['code', 'alpha'],
  );
  const pairs = further === undefined ? named : fc.oneof(subject, subject, named, grammar.criterion('Observation'));
  const wholes = declared.flatMap(({ name, type: of }) => wholeOf(name, of, words, type) ?? []);
  const pair = pairs.map((each): Input => ({ pair: each }));
  return wholes.length === 0 ? pair : fc.oneof({ arbitrary: pair, weight: 2 }, ...wholes);
}

/** What is no primitive, for the body of a POST. */
function wholeOf(
  name: string,
  type: string | undefined,
  { records }: Vocabulary,
  of: string,
): Arbitrary<Input> | undefined {
  const planted = (wanted: string): Arbitrary<Input> | undefined => {
    const known = records.filter(({ resourceType }: Planted) => resourceType === wanted);
    return known.length === 0
      ? undefined
      : fc.constantFrom(...known).map((resource) => ({ parameter: { name, resource } }));
  };
  const coding = fc.record({ system: fc.constantFrom(...systems), code: fc.constantFrom(...codes) });
  if (type === 'Coding') return coding.map((valueCoding) => ({ parameter: { name, valueCoding } }));
  if (type === 'Resource') return planted(of);
  if (type === 'ValueSet') {
    const compose = fc.constantFrom(...sets).map((url) => ({ include: [{ valueSet: [url] }] }));
    return compose.map((each) => ({
      parameter: { name, resource: { resourceType: 'ValueSet', status: 'active', compose: each } },
    }));
  }
  return type === 'CodeSystem' ? planted(type) : undefined;
}
