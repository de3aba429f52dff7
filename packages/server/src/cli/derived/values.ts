/** From the words of a command line to the checked input of an action. */
import { readFileSync } from 'node:fs';
import { JsonError, parseJson } from '@praxis/fhir';
import type { Action } from '../../actions/action.ts';
import type { CommandValues } from '../../actions/command-form.ts';
import type { Field, Fields } from '../../actions/schema.ts';
import { checkFields } from '../../admin/input.ts';
import { type CommandInput, UsageError } from '../command.ts';
import type { Bound, Parameters } from './parameters.ts';

/** The API takes no dates. */
const timeRule = 'must be a date that exists, such as 2027-01-31, or such a date with a time and its zone';

/** The values that an action and its command form take. @throws UsageError naming the argument or option that is wrong */
export function readValues(action: Action, parameters: Parameters, input: CommandInput): CommandValues {
  const path: Record<string, string> = {};
  const given: Record<'body' | 'options', Record<string, unknown>> = { body: {}, options: {} };
  for (const bound of parameters.bound) {
    const { field, name, at } = bound;
    const texts = textsOf(bound, input, parameters.arguments.length);
    const [first] = texts;
    if (field === undefined) {
      if (first === '') throw new UsageError(`${getParameterLabel(bound, parameters)} is empty`);
      if (first !== undefined) path[name] = first;
      continue;
    }
    const isFlag = field.kind === 'flag' && 'option' in at;
    const value = isFlag
      ? input.flag(at.option) || undefined
      : parseValue(field, texts, getParameterLabel(bound, parameters));
    if (value !== undefined) given[bound.isOwn ? 'options' : 'body'][name] = value;
  }
  requireOne(action, parameters, { ...given.body, ...given.options });
  return {
    path,
    body: checked(action.fields, given.body, parameters),
    options: checked(action.command?.options ?? {}, given.options, parameters),
  };
}

/** What messages call it: `--time-zone`, or the label of an argument. */
export function getParameterLabel({ at }: Bound, parameters: Parameters): string {
  return 'option' in at ? `--${at.option}` : (parameters.arguments[at.index]?.label ?? '');
}

function textsOf({ at }: Bound, input: CommandInput, count: number): readonly string[] {
  if ('index' in at) return at.index === count - 1 ? input.positionals.slice(at.index) : [input.argument(at.index)];
  const text = input.option(at.option);
  return text === undefined ? input.list(at.option) : [text];
}

function requireOne({ command }: Action, { bound }: Parameters, given: Readonly<Record<string, unknown>>): void {
  const names = command?.oneOf ?? [];
  const there = bound.filter(
    ({ name, at }) => 'option' in at && names.includes(at.option) && given[name] !== undefined,
  );
  if (names.length === 0 || there.length === 1) return;
  throw new UsageError(`give one of ${new Intl.ListFormat('en-GB').format(names.map((name) => `--${name}`))}`);
}

function checked(fields: Fields, given: Readonly<Record<string, unknown>>, parameters: Parameters) {
  const result = checkFields(fields, given);
  if ('values' in result) return result.values;
  const [problem] = result.problems;
  const name = problem.expression[0] ?? '';
  const bound = parameters.bound.find((each) => each.name === name && each.field !== undefined);
  const label = bound === undefined ? name : getParameterLabel(bound, parameters);
  const rule = bound?.field?.kind === 'time' ? timeRule : problem.diagnostics.slice(name.length + 1);
  throw new UsageError(`${label} ${rule}`);
}

/** The JSON value that the words stand for; words that stand for none are left to the check. */
function parseValue(field: Field, texts: readonly string[], label: string): unknown {
  const [text] = texts;
  if (text === undefined) return undefined;
  switch (field.kind) {
    case 'text':
      return field.secret === true ? readText(text, label).split(/\r?\n/, 1)[0] : text;
    case 'choice':
      return text;
    case 'time':
      return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
    case 'integer':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
    case 'flag':
      return text === field.words?.[0];
    case 'texts':
      return field.split === true ? splitEntries(texts) : texts;
    case 'flags':
      return Object.fromEntries(texts.map(parseSetting));
    case 'object':
      return field.byMember === true
        ? Object.fromEntries(texts.map((each) => parseMember(each, label)))
        : parse(readText(text, label), text);
  }
}

/**
 * `--acl "acl/pat_r acl/pat_s" --acl acl/appmt_s` and comma-separated lists alike, as one list. A comma inside the query of a
 * SMART scope parts values, so one parts entries only where the next begins or nothing follows.
 */
function splitEntries(values: readonly string[]): string[] {
  return values.flatMap((value) => value.split(/\s+|,+(?=\s|$|(?:acl|system)\/)/)).filter((entry) => entry !== '');
}

function parseSetting(pair: string): [string, unknown] {
  const [name = '', value] = pair.split('=');
  if (value !== 'true' && value !== 'false') throw new UsageError(`${pair} must be SETTING=true or SETTING=false`);
  return [name, value === 'true'];
}

function parseMember(text: string, label: string): [string, unknown] {
  const [, name = '', json = ''] = /^([A-Za-z_]+)=(.*)$/s.exec(text) ?? [];
  if (name === '') throw new UsageError(`${label} must be NAME=JSON, such as period={"start":"2027-01-01"}`);
  return [name, parse(json, `${label} ${name}=`)];
}

function parse(text: string, what: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    if (cause instanceof JsonError) throw new UsageError(`${what} is not JSON: ${cause.message}`);
    throw cause;
  }
}

function readText(file: string, label: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`${label} ${file} cannot be read`, { cause });
  }
}
