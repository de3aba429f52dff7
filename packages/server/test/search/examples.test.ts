/**
 * What a resource holds, a search built from it finds: walked over all official examples, a synthetic practice, and all
 * search parameters that are not composite. The searches are written from the resource's values by the rules of
 * https://hl7.org/fhir/R4/search.html#ptypes, not from the index.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  compileExtractor,
  formatDecimal,
  getSearchParameters,
  isRawDecimal,
  type JsonObject,
  type JsonValue,
  type SearchParameter,
  type TypedValue,
} from '@praxis/fhir';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { generatePractice } from '../../src/synthetic/practice.ts';
import { officialExamples } from './official-examples.ts';
import { nowMs, openSearchWorld, type SearchWorld, timeZone } from './world.ts';

/** Values of one parameter in one example that are searched for. */
const valuesMax = 2;
const concurrency = 8;

interface Question {
  readonly type: string;
  readonly id: string;
  readonly code: string;
  /** Parameters; several when a range is asked for at both ends. */
  readonly query: readonly (readonly [name: string, value: string])[];
}

for (const [where, resources, least] of [
  ['an official example', officialExamples(), { resources: 700, parameters: 900 }],
  ['a synthetic practice', synthetic(), { resources: 200, parameters: 100 }],
] as const) {
  test(`every parameter that selects something in ${where} finds it`, { timeout: 120_000 }, async (t) => {
    const world = await openSearchWorld(t);
    assert.ok(resources.length > least.resources, `${resources.length} resources`);
    await world.load(resources, { bare: true });
    const questions = resources.flatMap(questionsOf);
    const pairs = new Set(questions.map(({ type, code }) => `${type}.${code}`));
    const lost = await unanswered(world, questions);
    t.diagnostic(
      `${questions.length} questions by ${pairs.size} parameters of ${new Set(questions.map(({ type }) => type)).size} types`,
    );
    assert.deepEqual(lost, []);
    assert.ok(pairs.size > least.parameters, `${pairs.size} parameters were walked`);
  });
}

function synthetic(): readonly JsonObject[] {
  const options = { seed: 'values', firm: 'maple', name: 'Maple', timeZone, patients: 12, todayMs: nowMs };
  return [...generatePractice(options)];
}

function questionsOf(example: JsonObject): Question[] {
  const type = String(example['resourceType']);
  const id = String(example['id']);
  return [...getSearchParameters(type).values()].flatMap((parameter) => {
    if (parameter.expression === undefined || parameter.type === 'composite' || parameter.type === 'special') return [];
    const values = compileExtractor(type, parameter.expression)(example, openOperatorBudget(), {
      what: 'A test',
      cheaper: 'test less',
    });
    return values
      .slice(0, valuesMax)
      .flatMap((value) => queriesFor(parameter, value).map((query) => ({ type, id, code: parameter.code, query })));
  });
}

type Query = Question['query'];

function queriesFor(parameter: SearchParameter, value: TypedValue): readonly Query[] {
  const present: Query = [[`${parameter.code}:missing`, 'false']];
  const one = (text: string | undefined): readonly Query[] => [
    present,
    ...(text === undefined ? [] : [[[parameter.code, text]] as Query]),
  ];
  switch (parameter.type) {
    case 'token':
      return [
        present,
        ...tokenTexts(value).map((text): Query => [[parameter.code, text]]),
        ...textsBeside(value).map((text): Query => [[`${parameter.code}:text`, escaped(text)]]),
        ...typedTexts(value).map((text): Query => [[`${parameter.code}:of-type`, text]]),
      ];
    case 'string':
      if (parameter.code === 'phonetic') return [present, ...soundQueries(value)];
      return [present, ...stringTexts(value).flatMap((text) => stringQueries(parameter.code, escaped(text)))];
    case 'uri':
      return [...one(escaped(String(value.value))), ...placeQueries(parameter.code, String(value.value))];
    case 'number':
      return one(numberText(value.value));
    case 'quantity':
      return quantityQueries(parameter.code, value);
    case 'reference':
      return one(referenceText(value));
    case 'date':
      return dateQueries(parameter.code, value);
    default:
      return [];
  }
}

/** Texts that stand beside codes: CodeableConcept.text, Coding.display, Identifier.type.text. */
function textsBeside({ type, value }: TypedValue): string[] {
  const texts =
    type === 'CodeableConcept'
      ? [textPart(value, 'text'), ...codingsOf(value).map((coding) => textPart(coding, 'display'))]
      : [
          ...(type === 'Coding' ? [textPart(value, 'display')] : []),
          ...(type === 'Identifier' ? [textPart(part(value, 'type'), 'text')] : []),
        ];
  return texts.flatMap((text) => (text !== undefined && /[\p{L}\p{N}]/u.test(text) ? [text] : []));
}

function typedTexts({ type, value }: TypedValue): string[] {
  const identifier = textPart(value, 'value');
  if (type !== 'Identifier' || identifier === undefined) return [];
  return codingsOf(part(value, 'type')).flatMap((coding) => {
    const [system, code] = [textPart(coding, 'system'), textPart(coding, 'code')];
    return system === undefined || code === undefined ? [] : [[system, code, identifier].map(escaped).join('|')];
  });
}

function codingsOf(value: JsonValue | undefined): readonly JsonValue[] {
  const codings = part(value, 'coding');
  return Array.isArray(codings) ? codings : [];
}

/** Each word of a name by itself, and the family name in another case. */
function soundQueries(value: TypedValue): readonly Query[] {
  return ['given', 'family', 'text']
    .flatMap((name) => part(value.value, name) ?? [])
    .flatMap((text) => (typeof text === 'string' ? [[['phonetic', escaped(text.toUpperCase())]] as Query] : []));
}

/** A URL is below and above itself, and below the host it is at. */
function placeQueries(code: string, address: string): readonly Query[] {
  const host = /^https?:\/\/[^/]+/.exec(address)?.[0];
  if (host === undefined) return [];
  return [
    [[`${code}:below`, escaped(address)]],
    [[`${code}:above`, escaped(address)]],
    [[`${code}:below`, escaped(host)]],
  ];
}

function stringQueries(code: string, text: string): readonly Query[] {
  return [[[code, text]], [[`${code}:contains`, text]]];
}

function escaped(text: string): string {
  return text.replace(/[\\,|$]/g, '\\$&');
}

function part(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawDecimal(value)
    ? value[name]
    : undefined;
}

function textPart(value: JsonValue | undefined, name: string): string | undefined {
  const found = part(value, name);
  return typeof found === 'string' ? found : undefined;
}

function pair(system: string | undefined, code: string | undefined): string[] {
  if (code === undefined) return system === undefined ? [] : [`${escaped(system)}|`];
  return [escaped(code), `${escaped(system ?? '')}|${escaped(code)}`];
}

function tokenTexts({ type, value }: TypedValue): string[] {
  if (type === 'Coding') return pair(textPart(value, 'system'), textPart(value, 'code'));
  if (type === 'Identifier') return pair(textPart(value, 'system'), textPart(value, 'value'));
  if (type === 'ContactPoint')
    return [textPart(value, 'value')].flatMap((text) => (text === undefined ? [] : [escaped(text)]));
  if (type === 'CodeableConcept')
    return codingsOf(value).flatMap((coding) => pair(textPart(coding, 'system'), textPart(coding, 'code')));
  return typeof value === 'object' ? [] : [escaped(String(value))];
}

const nameElements = ['text', 'family', 'given', 'prefix', 'suffix'];
const addressElements = ['text', 'line', 'city', 'district', 'state', 'postalCode', 'country'];

function stringTexts({ type, value }: TypedValue): string[] {
  if (typeof value !== 'object') return /[\p{L}\p{N}]/u.test(String(value)) ? [String(value)] : [];
  const elements = type === 'HumanName' ? nameElements : type === 'Address' ? addressElements : [];
  return elements
    .flatMap((name) => part(value, name) ?? [])
    .flatMap((text) => (typeof text === 'string' ? [text] : []));
}

function numberText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'number' || isRawDecimal(value) ? formatDecimal(value) : undefined;
}

function quantityQueries(code: string, { type, value }: TypedValue): readonly Query[] {
  if (type === 'Range') {
    const low = numberText(part(part(value, 'low'), 'value'));
    const high = numberText(part(part(value, 'high'), 'value'));
    return [
      ...(low === undefined ? [] : [[[code, `ge${low}`]] as Query]),
      ...(high === undefined ? [] : [[[code, `le${high}`]] as Query]),
    ];
  }
  if (type === 'SampledData') return [[[`${code}:missing`, 'false']]];
  const amount = numberText(part(value, 'value'));
  if (amount === undefined) return [];
  const comparator = textPart(value, 'comparator');
  const prefix = comparator === undefined ? '' : comparator.startsWith('<') ? 'le' : 'ge';
  const unit = textPart(value, 'code') ?? textPart(value, 'currency');
  const system = textPart(value, 'system') ?? (type === 'Money' ? 'urn:iso:std:iso:4217' : '');
  const label = textPart(value, 'unit');
  return [
    [[code, `${prefix}${amount}`]],
    ...(unit === undefined
      ? []
      : [
          [[code, `${prefix}${amount}|${system}|${escaped(unit)}`]] as Query,
          [[code, `${prefix}${amount}||${escaped(unit)}`]] as Query,
        ]),
    ...(label === undefined ? [] : [[[code, `${prefix}${amount}||${escaped(label)}`]] as Query]),
  ];
}

function referenceText({ type, value }: TypedValue): string | undefined {
  if (typeof value === 'string') return escaped(value);
  if (type === 'Reference') {
    const reference = textPart(value, 'reference');
    return reference === undefined ? undefined : escaped(reference);
  }
  const id = textPart(value, 'id');
  return id === undefined ? undefined : `${textPart(value, 'resourceType')}/${id}`;
}

function dateQueries(code: string, { type, value }: TypedValue): readonly Query[] {
  if (typeof value === 'string')
    return ['date', 'dateTime', 'instant'].includes(type)
      ? [[[code, value]], [[code, `ge${value}`]], [[code, `le${value}`]], [[code, `ap${value}`]]]
      : [];
  if (type === 'Timing') return [[[`${code}:missing`, 'false']]];
  if (type !== 'Period') return [];
  const start = textPart(value, 'start');
  const end = textPart(value, 'end');
  return [
    ...(start === undefined ? [] : [[[code, `ge${start}`]] as Query]),
    ...(end === undefined ? [] : [[[code, `le${end}`]] as Query]),
    ...(start === undefined || end === undefined
      ? []
      : [
          [
            [code, `ge${start}`],
            [code, `le${end}`],
          ] as Query,
        ]),
  ];
}

/** The questions whose search does not find the example, as text. Each search is asked once, whatever it is to find. */
async function unanswered(world: SearchWorld, questions: readonly Question[]): Promise<string[]> {
  const lost: string[] = [];
  const queue = Map.groupBy(questions, asked).entries();
  const work = async (): Promise<void> => {
    for (const [url, those] of queue) {
      const [type = '', search = ''] = url.split('?');
      const ids = those.map(({ id }) => id);
      for (const id of await missed(world, type, search, ids))
        lost.push(`${type}/${id}: ${decodeURIComponent(search)}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return lost;
}

/** `Type?search` */
function asked({ type, query }: Question): string {
  return `${type}?${new URLSearchParams(query.map(([name, value]): [string, string] => [name, value]))}`;
}

/** Those neither on the first page nor, when that has a next one, among the matches with their id. */
async function missed(world: SearchWorld, type: string, search: string, ids: readonly string[]): Promise<string[]> {
  const page = await world.page(type, search);
  const shown = new Set(page.rows.map(({ id }) => id));
  const missing: string[] = [];
  for (const id of ids.filter((each) => !shown.has(each))) {
    const isLater = page.next !== undefined && (await world.page(type, `_id=${id}&${search}`)).rows.length === 1;
    if (!isLater) missing.push(id);
  }
  return missing;
}
