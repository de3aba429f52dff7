/**
 * Media types in headers (RFC 9110 §8.3.1, §12.5.1) and the FHIR version that they may name.
 */

/** A range of an Accept header. */
export interface MediaRange {
  /** `application/fhir+json`, `application/*`; lower case, without parameters. */
  readonly type: string;
  /** 0 to 1; 0 refuses. */
  readonly quality: number;
}

/** The essence of a media type: lower case, without parameters; '' when there is none. */
export function parseMediaType(header: string | undefined): string {
  const text = header ?? '';
  const end = text.indexOf(';');
  return (end < 0 ? text : text.slice(0, end)).trim().toLowerCase();
}

/** The ranges of an Accept header in order, without those that ask for another version of FHIR. */
export function parseAccept(accept: string): readonly MediaRange[] {
  return accept
    .split(',')
    .filter((range) => isServedVersion(range))
    .map((range) => ({ type: parseMediaType(range), quality: qualityOf(range) }));
}

/** 0 where there are none. */
export function findHighestQuality(ranges: readonly MediaRange[]): number {
  return ranges.reduce((most, { quality }) => Math.max(most, quality), 0);
}

function qualityOf(range: string): number {
  return Number(/;\s*q=([0-9.]+)/i.exec(range)?.[1] ?? 1);
}

/** https://hl7.org/fhir/R4/versioning.html#mt-version: the FHIR version that a media type may name. */
export function isServedVersion(type: string): boolean {
  const version = /;\s*fhirVersion\s*=\s*"?([^";\s]*)/i.exec(type)?.[1];
  return version === undefined || /^4\.0(?:\.\d+)?$/.test(version);
}

/** The charset parameter, lower case; undefined when there is none. */
export function parseCharset(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? '')?.[1]?.toLowerCase();
}
