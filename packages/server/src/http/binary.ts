/**
 * Binary in its native form: content read and written as it is, with its own media type
 * (https://hl7.org/fhir/R4/binary.html#rest). Access entries, masks and versions are those of any resource: what is served
 * is taken from the disclosed resource, and what is written becomes one.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonLimits, JsonObject, JsonValue } from '@praxis/fhir';
import { fail, PraxisError } from '../base/errors.ts';
import { computeWildcardQuality, type FormatWishes, readFormatParameter } from './answer/answer-format.ts';
import { decodeUtf8 } from './request/body.ts';
import {
  findHighestQuality,
  type MediaRange,
  parseAccept,
  parseCharset,
  parseMediaType,
} from './request/media-types.ts';
import { findResourceFormat, requireResourceFormat } from './request/negotiation.ts';
import { parseBody } from './request/resource-body.ts';

/** Binary.securityContext.reference as a header. */
const securityContextHeader = 'x-security-context';
/** For content whose media type is no media type. */
const unknownContent = 'application/octet-stream';
const token = "[\\w!#$%&'*+.^`|~-]+";
const mediaTypePattern = new RegExp(
  `^${token}/${token}(?: ?; ?${token}=(?:${token}|"[\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"))*$`,
);

/** Types that ask for the resource, whatever the content is. */
const fhirTypes: ReadonlySet<string> = new Set([
  'application/fhir+json',
  'application/json+fhir',
  'application/fhir+xml',
  'application/xml+fhir',
]);
/** Types that ask for the content if it is of their kind, and for the resource otherwise. */
const genericKinds: ReadonlyMap<string, 'json' | 'xml'> = new Map([
  ['application/json', 'json'],
  ['text/json', 'json'],
  ['application/xml', 'xml'],
  ['text/xml', 'xml'],
]);

export interface NativeContent {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Whether a read of a Binary may be answered with content: `_format` always asks for the resource. */
export function mayWantContent({ query }: FormatWishes): boolean {
  return readFormatParameter(query) === undefined;
}

/** Whether a read can mean the content only, so that `_summary` does not apply. */
export function wantsContentOnly(wishes: FormatWishes): boolean {
  const isResourceNamed = rangesOf(wishes).some(({ type }) => fhirTypes.has(type) || genericKinds.has(type));
  return mayWantContent(wishes) && !isResourceNamed;
}

/** The content of a disclosed Binary, when the caller wants that rather than the resource, and may see it. */
export function findNativeContent(json: string, wishes: FormatWishes): NativeContent | undefined {
  if (!mayWantContent(wishes)) return undefined;
  const { contentType, data, securityContext } = JSON.parse(json);
  if (typeof contentType !== 'string' || typeof data !== 'string') return undefined;
  if (!isContentPreferred(rangesOf(wishes), parseMediaType(contentType))) return undefined;
  const reference: unknown = securityContext?.reference;
  return {
    bytes: Buffer.from(data, 'base64'),
    headers: {
      'content-type': mediaTypePattern.test(contentType) ? contentType : unknownContent,
      // Content of others must neither be guessed to be a page nor act as one of this origin.
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      ...(typeof reference === 'string' && /^[\x21-\x7e]+$/.test(reference)
        ? { [securityContextHeader]: reference }
        : {}),
    },
  };
}

function rangesOf({ accept }: FormatWishes): readonly MediaRange[] {
  return parseAccept(accept === undefined || accept.trim() === '' ? '*/*' : accept);
}

/** The resource where a FHIR type is named and weighs no less; the content where its type is accepted. */
function isContentPreferred(ranges: readonly MediaRange[], type: string): boolean {
  const kind = /[/+]json$/.test(type) ? 'json' : /[/+]xml$/.test(type) ? 'xml' : undefined;
  const named = ranges.filter((range) => range.type === type || (kind && genericKinds.get(range.type) === kind));
  const quality = named.length > 0 ? findHighestQuality(named) : computeWildcardQuality(ranges, type);
  const resource = findHighestQuality(ranges.filter((range) => fhirTypes.has(range.type)));
  return quality > 0 && (resource === 0 || quality > resource);
}

/**
 * A body written to Binary: the resource if it is one, otherwise the content of a Binary, FHIR resources of other types
 * included ("the data is accepted as is").
 * @param id of the path, '' where there is none
 * @throws PraxisError `media-type-unsupported`, `request-malformed` (no content), `json-malformed` and `xml-malformed` for
 *   what says that it is FHIR or begins as a Binary
 */
export function readBinaryBody(bytes: Buffer, headers: IncomingHttpHeaders, id: string, limits: JsonLimits): JsonValue {
  const value = resourceIn(bytes, headers['content-type'], limits);
  const isContent = value === undefined || (typeOf(value) ?? 'Binary') !== 'Binary';
  return isContent ? binaryOf(bytes, headers, id) : value;
}

/** The JSON value of a body that may be a Binary; undefined when it is content. */
function resourceIn(bytes: Buffer, contentType: string | undefined, limits: JsonLimits): JsonValue | undefined {
  const format = findResourceFormat(contentType);
  if (format === undefined) {
    if (contentType === undefined) requireResourceFormat(contentType);
    return undefined;
  }
  const charset = parseCharset(contentType);
  const isText = isUtf8(bytes) && (charset === undefined || charset === 'utf-8' || charset === 'utf8');
  if (!isText && !format.isFhir) return undefined;
  requireResourceFormat(contentType);
  try {
    const value = parseBody(decodeUtf8(bytes), format.kind, limits);
    return format.isFhir || typeOf(value) === 'Binary' ? value : undefined;
  } catch (error) {
    const begun = error instanceof PraxisError && error.details.expression?.[0]?.startsWith('Binary');
    if (format.isFhir || begun) throw error;
    return undefined;
  }
}

function typeOf(value: JsonValue): string | undefined {
  const type = typeof value === 'object' && value !== null && 'resourceType' in value ? value.resourceType : undefined;
  return typeof type === 'string' ? type : undefined;
}

function binaryOf(bytes: Buffer, headers: IncomingHttpHeaders, id: string): JsonObject {
  const contentType = (headers['content-type'] ?? '').trim().replace(/\s+/g, ' ');
  if (!mediaTypePattern.test(contentType)) {
    fail('media-type-unsupported', {
      diagnostics: 'Content-Type must be the media type of the content, application/pdf for instance',
    });
  }
  if (bytes.length === 0)
    fail('request-malformed', { diagnostics: 'The body is empty: send the content of the Binary' });
  const reference = headers[securityContextHeader];
  return {
    resourceType: 'Binary',
    ...(id === '' ? {} : { id }),
    contentType,
    ...(typeof reference === 'string' ? { securityContext: { reference } } : {}),
    data: bytes.toString('base64'),
  };
}
