/** What the command of an action takes: its segments and fields as arguments and options. */
import type { Action } from '../../actions/action.ts';
import type { Field } from '../../actions/schema.ts';
import type { ArgumentSpec, OptionSpec } from '../command.ts';

/** A segment or field, and where the command line has it. */
export interface Bound {
  readonly name: string;
  /** Undefined: a segment of the path. */
  readonly field: Field | undefined;
  /** Its option, or its place among the arguments. */
  readonly at: { readonly option: string } | { readonly index: number };
  /** It is an option that the command line alone has. */
  readonly isOwn?: true;
}

export interface Parameters {
  readonly bound: readonly Bound[];
  readonly arguments: readonly ArgumentSpec[];
  readonly options: Readonly<Record<string, OptionSpec>>;
}

/** Segments that are options wherever they are no argument, with what counts when nothing is said. */
const placeStandards: Readonly<Record<string, string>> = { environment: 'sandbox', realm: 'sandbox' };

const places = ['environment', 'firm', 'application'] as const;

const segmentDescriptions: Readonly<Record<string, string>> = {
  environment: 'The environment',
  realm: 'The realm',
  firm: 'Prefix of the firm',
  at: 'Prefix of the firm',
  application: 'Name of the application',
  location: 'Id of a Location',
};

/** Derives them from the path, the fields and the command form. */
export function deriveParameters(action: Action): Parameters {
  const { fields, command = {} } = action;
  const segments = [...action.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
  const places = command.arguments ?? standardArguments(action, segments);
  const positions: Bound[] = places.map((name, index) => {
    const isField = !segments.includes(name) || places.indexOf(name) !== index;
    return { name, field: isField ? fields[name] : undefined, at: { index } };
  });
  const isPlaced = (name: string, field: Field | undefined): boolean =>
    positions.some((each) => each.name === name && each.field === field);
  const toOption = (name: string, field?: Field) => ({ name, field, at: { option: optionName(name, field) } });
  const optional = [
    ...segments.filter((name) => !isPlaced(name, undefined)).map((name) => toOption(name)),
    ...Object.entries(fields)
      .filter(([name, field]) => !isPlaced(name, field))
      .map(([name, field]) => toOption(name, field)),
    ...Object.entries(command.options ?? {}).map(([name, field]) => ({
      ...toOption(name, field),
      isOwn: true as const,
    })),
  ];
  return {
    bound: [...positions, ...optional],
    arguments: positions.map((each) => argumentSpec(action, each)),
    options: Object.fromEntries(optional.map((each) => [each.at.option, optionSpec(action, each)])),
  };
}

/** Segments, then the fields that are too large for an option. */
function standardArguments({ fields, command }: Action, segments: readonly string[]): readonly string[] {
  const isOption = (name: string): boolean =>
    placeStandards[name] !== undefined ||
    command?.segments?.[name]?.standard !== undefined ||
    (name === 'firm' && command?.isForEveryFirm === true);
  const isLarge = ({ kind, required }: Field): boolean => required === true && (kind === 'object' || kind === 'flags');
  const large = Object.entries(fields).filter(([, field]) => isLarge(field));
  return [...segments.filter((name) => !isOption(name)), ...large.map(([name]) => name)];
}

function argumentSpec(action: Action, { name, field }: Bound): ArgumentSpec {
  if (field === undefined) return { label: labelOf(name), ...segmentSpec(action, name) };
  const shared = fieldSpec(field);
  if (field.kind === 'object') return { ...shared, label: 'FILE', isFile: true };
  if (field.kind === 'flags') return { ...shared, label: 'SETTING=true|false', isRepeated: true };
  return { ...shared, label: field.kind === 'flag' && field.words ? field.words.join('|') : labelOf(name) };
}

function optionSpec(action: Action, { name, field }: Bound): OptionSpec {
  if (field !== undefined) {
    const { kind, standard, required } = field;
    const isMany = kind === 'texts' || kind === 'flags' || (kind === 'object' && field.byMember === true);
    return {
      ...fieldSpec(field),
      kind: kind === 'flag' ? 'flag' : isMany ? 'values' : 'value',
      ...(standard === undefined ? (required === true ? { required } : {}) : { default: standard }),
    };
  }
  const standard = action.command?.segments?.[name]?.standard ?? placeStandards[name];
  const isFree = name === 'firm' && action.command?.isForEveryFirm === true;
  return {
    ...segmentSpec(action, name),
    kind: 'value',
    ...(isFree ? { description: 'Prefix of a firm. The default is all firms' } : {}),
    ...(standard === undefined ? (isFree ? {} : { required: true }) : { default: standard }),
  };
}

function segmentSpec({ method, command }: Action, name: string) {
  const { description = segmentDescriptions[name] ?? 'As its list shows it', values } = command?.segments?.[name] ?? {};
  // An application that is only shown is not changed.
  const place =
    name === 'at' ? 'firm' : places.find((each) => each === name && (name !== 'application' || method !== 'GET'));
  return { description, noted: true as const, ...(values ? { values } : {}), ...(place ? { place } : {}) };
}

function fieldSpec(field: Field) {
  const description = field.description.replace(/\.$/, '');
  const { noted, place } = field;
  const isFile = (field.kind === 'text' && field.secret === true) || (field.kind === 'object' && !field.byMember);
  const values = field.kind === 'choice' ? field.values : field.kind === 'flag' ? field.words : undefined;
  return {
    description: `${description}${hintOf(field)}`,
    ...(values === undefined ? {} : { values }),
    ...(isFile ? { isFile: true as const } : {}),
    ...(noted === undefined ? {} : { noted }),
    ...(place === undefined ? {} : { place }),
  };
}

function hintOf(field: Field): string {
  switch (field.kind) {
    case 'text':
      return field.secret === true ? '; the first line of a file, /dev/stdin for example' : '';
    case 'choice':
      return field.values.length > 10 ? '' : `: ${field.values.join(', ')}`;
    case 'time':
      return '; a date, or a time with its zone';
    case 'texts':
      return field.split === true ? '; separated by spaces or commas, may be repeated' : '; may be repeated';
    case 'flags':
      return '; NAME=true or NAME=false, may be repeated';
    case 'object':
      return field.byMember === true ? '; NAME=JSON, may be repeated' : '; a file of JSON';
    default:
      return '';
  }
}

/** `timeZone` → `time-zone` */
function kebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function labelOf(name: string): string {
  return kebabCase(name === 'at' ? 'firm' : name).toUpperCase();
}

function optionName(name: string, field?: Field): string {
  const option = field?.option ?? kebabCase(name);
  return field?.kind === 'text' && field.secret === true ? `${option}-file` : option;
}
