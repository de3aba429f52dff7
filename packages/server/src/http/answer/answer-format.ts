/**
 * The format of an answer, by `_format` and Accept (https://hl7.org/fhir/R4/http.html#mime-type, RFC 9110 §12.5.1).
 * `_format` overrides Accept; a GET's Content-Type is ignored, as existing clients send any. Where JSON and XML are equally
 * welcome, a body in XML is answered in XML, and everything else in JSON. Lists are also served as lines, NDJSON, to those
 * who name it (docs/decisions/0139).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { fail } from '../../base/errors.ts';
import { refuseValue } from '../../search/query/search-values.ts';
import { findHighestQuality, type MediaRange, parseAccept, parseMediaType } from '../request/media-types.ts';

export type FormatKind = 'json' | 'xml';

/** Of one resource. */
export interface AnswerFormat {
  readonly kind: FormatKind;
  readonly contentType: string;
  /** `_pretty=true`: lines and indentation for people. */
  readonly pretty: boolean;
}

/** Of a list: a resource a line. */
export interface LinesFormat {
  readonly kind: 'ndjson';
  readonly contentType: string;
}

/** A media type in which a format is answered. */
interface Representation<Kind = FormatKind> {
  readonly kind: Kind;
  readonly type: string;
  /** Those that R4 names answer wildcards, too; the generic ones answer where they are named themselves. */
  readonly isFhirType: boolean;
}

/** In the order of preference among equals. */
const representations: readonly Representation[] = [
  { kind: 'json', type: 'application/fhir+json', isFhirType: true },
  { kind: 'json', type: 'application/json', isFhirType: false },
  { kind: 'json', type: 'text/json', isFhirType: false },
  { kind: 'xml', type: 'application/fhir+xml', isFhirType: true },
  { kind: 'xml', type: 'application/xml', isFhirType: false },
  { kind: 'xml', type: 'text/xml', isFhirType: false },
];

/** Lists alone have these. Wildcards mean a Bundle. */
const lines: readonly Representation<'ndjson'>[] = [
  { kind: 'ndjson', type: 'application/fhir+ndjson', isFhirType: false },
  { kind: 'ndjson', type: 'application/ndjson', isFhirType: false },
];

/** Types of earlier versions of FHIR, which R4 encourages servers to take. */
const formerNames: ReadonlyMap<string, string> = new Map([
  ['application/json+fhir', 'application/fhir+json'],
  ['application/xml+fhir', 'application/fhir+xml'],
]);

/** Values of `_format` → format; all stand for the types that R4 names. */
const formatNames: ReadonlyMap<string, FormatKind> = new Map<string, FormatKind>([
  ['json', 'json'],
  ['xml', 'xml'],
  ['application/json+fhir', 'json'],
  ['application/xml+fhir', 'xml'],
  ...representations.map(({ type, kind }): [string, FormatKind] => [type, kind]),
]);

export const fhirJson: AnswerFormat = answerFormat('application/fhir+json', 'json', false);

function answerFormat(type: string, kind: FormatKind, pretty: boolean): AnswerFormat {
  return { kind, contentType: `${type}; charset=utf-8`, pretty };
}

/** What of a request decides on the format of its answer. */
export interface FormatWishes {
  readonly accept: string | undefined;
  /** Query string, or query and form; its other parameters may be broken, which is told later. */
  readonly query: string;
  /** Of a body; undefined where a request has none by its method. */
  readonly contentType: string | undefined;
}

const bodyMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** The wishes that headers and query tell. */
export function formatWishes(headers: IncomingHttpHeaders, method: string, query: string): FormatWishes {
  const contentType = bodyMethods.has(method) ? headers['content-type'] : undefined;
  return { accept: headers.accept, query, contentType };
}

/** Accept headers that leave nothing to weigh, for requests without `_format`, `_pretty` and XML. */
const plainAccepts: ReadonlySet<string | undefined> = new Set([undefined, '', '*/*', 'application/fhir+json']);

/** The format of one resource as an answer; undefined when none is wished that is served. */
export function findFormat(wishes: FormatWishes): AnswerFormat | undefined {
  const { accept, query, contentType } = wishes;
  if (isPlain(wishes)) return fhirJson;
  const pretty = lastValue(query, '_pretty') === 'true';
  const named = readFormatParameter(query);
  if (named !== undefined) {
    const kind = formatNames.get(named);
    return kind && answerFormat(`application/fhir+${kind}`, kind, pretty);
  }
  const best = acceptedRepresentation(accept ?? '', preferredKind(contentType));
  return best && answerFormat(best.type, best.kind, pretty);
}

/** The format of a list as an answer; undefined when none is wished that is served. */
function findListFormat(wishes: FormatWishes): AnswerFormat | LinesFormat | undefined {
  const { accept, query, contentType } = wishes;
  if (!namesLines(wishes)) return findFormat(wishes);
  const named = readFormatParameter(query);
  if (named !== undefined) {
    const isNamed = named === 'ndjson' || lines.some(({ type }) => type === named);
    return isNamed ? linesFormat('application/fhir+ndjson') : findFormat(wishes);
  }
  const ranges = parseAccept(accept ?? '');
  const best = bestRepresentation(ranges, preferredKind(contentType), [...lines, ...representations]);
  return best?.kind === 'ndjson' ? linesFormat(best.type) : findFormat(wishes);
}

function linesFormat(type: string): LinesFormat {
  return { kind: 'ndjson', contentType: `${type}; charset=utf-8` };
}

function namesLines({ accept = '', query }: FormatWishes): boolean {
  return accept.toLowerCase().includes('ndjson') || query.includes('ndjson');
}

function isPlain({ accept, query, contentType }: FormatWishes): boolean {
  if (!plainAccepts.has(accept) || contentType?.includes('xml') === true) return false;
  return !query.includes('_format') && !query.includes('_pretty');
}

function preferredKind(contentType: string | undefined): FormatKind {
  return parseMediaType(contentType).includes('xml') ? 'xml' : 'json';
}

/** What Accept headers that were met before came to, since a client sends the same one again and again. */
const weighedBefore = new LRUCache<string, { readonly best: Representation | undefined }>({ max: 256 });
const weighedLengthMax = 512;

function acceptedRepresentation(accept: string, preferred: FormatKind): Representation | undefined {
  const key = `${preferred} ${accept}`;
  const known = weighedBefore.get(key);
  if (known !== undefined) return known.best;
  const best = bestRepresentation(parseAccept(accept.trim() === '' ? '*/*' : accept), preferred, representations);
  if (key.length <= weighedLengthMax) weighedBefore.set(key, { best });
  return best;
}

/**
 * The format of one resource as an answer.
 * @throws PraxisError `not-acceptable` naming what is served, `search-invalid` for a `_pretty` that is no boolean
 */
export function requireFormat(wishes: FormatWishes): AnswerFormat {
  requirePretty(wishes);
  const lists = namesLines(wishes) ? ' (application/fhir+ndjson of searches and histories alone)' : '';
  return findFormat(wishes) ?? refuseFormat(wishes, `application/fhir+json and application/fhir+xml are${lists}`);
}

/**
 * The format of a list as an answer.
 * @throws PraxisError `not-acceptable` naming what is served, `search-invalid` for a `_pretty` that is no boolean
 */
export function requireListFormat(wishes: FormatWishes): AnswerFormat | LinesFormat {
  requirePretty(wishes);
  const served = 'application/fhir+json, application/fhir+xml and application/fhir+ndjson are';
  return findListFormat(wishes) ?? refuseFormat(wishes, served);
}

function requirePretty({ query }: FormatWishes): void {
  const value = lastValue(query, '_pretty');
  if (value !== undefined && value !== 'true' && value !== 'false') refuseValue('_pretty', 'takes true or false');
}

function refuseFormat(wishes: FormatWishes, served: string): never {
  if (readFormatParameter(wishes.query) === undefined) {
    fail('not-acceptable', { diagnostics: `Accept allows no media type that is served; ${served}` });
  }
  return fail('not-acceptable', {
    diagnostics: `_format asks for a media type that is not served; ${served}`,
    expression: ['_format'],
  });
}

/** The media type or name that `_format` gives, the last one; undefined when there is none. */
export function readFormatParameter(query: string): string | undefined {
  // An unencoded + arrives as a space.
  const name = parseMediaType(lastValue(query, '_format')).replace(' ', '+');
  return name === '' ? undefined : name;
}

function lastValue(query: string, name: string): string | undefined {
  return query.includes(name) ? new URLSearchParams(query).getAll(name).at(-1) : undefined;
}

/** The representation of the highest quality; among equals one that is named, then one of the preferred format. */
function bestRepresentation<Kind>(
  ranges: readonly MediaRange[],
  preferred: FormatKind,
  served: readonly Representation<Kind>[],
): Representation<Kind> | undefined {
  const [best] = served
    .map((representation) => ({ representation, ...qualityOfRepresentation(ranges, representation) }))
    .filter(({ quality }) => quality > 0)
    .sort(
      (one, other) =>
        other.quality - one.quality ||
        Number(other.isNamed) - Number(one.isNamed) ||
        Number(other.representation.kind === preferred) - Number(one.representation.kind === preferred),
    );
  return best?.representation;
}

/** The most specific ranges decide, so a type with `q=0` is refused though any type is taken (RFC 9110 §12.5.1). */
function qualityOfRepresentation(
  ranges: readonly MediaRange[],
  { type, isFhirType }: Pick<Representation, 'type' | 'isFhirType'>,
): { quality: number; isNamed: boolean } {
  const exact = ranges.filter((range) => (formerNames.get(range.type) ?? range.type) === type);
  if (exact.length > 0) return { quality: findHighestQuality(exact), isNamed: true };
  return { quality: isFhirType ? computeWildcardQuality(ranges, type) : 0, isNamed: false };
}

/** The quality that `application/*`, or else any type, gives to a type. */
export function computeWildcardQuality(ranges: readonly MediaRange[], type: string): number {
  const family = `${type.slice(0, type.indexOf('/'))}/*`;
  const families = ranges.filter((range) => range.type === family);
  if (families.length > 0) return findHighestQuality(families);
  return findHighestQuality(ranges.filter((range) => range.type === '*/*' || range.type === '*'));
}
