/**
 * What search has to know of code and identifier systems: how their URIs are spelt, and which of them tell upper from
 * lower case (https://hl7.org/fhir/R4/search.html#token).
 */

/** `https` spellings of systems under hl7.org, whose URIs begin with `http` in every published payload. */
const secureHl7 = /^https:\/\/((?:[a-z0-9-]+\.)*hl7\.org)(?=[/:?#]|$)/i;

/**
 * The spelling under which a system is stored and looked up. Existing clients search with `https://www.hl7.org/…` for
 * identifiers that hold `http://www.hl7.org/…`: both are one system here. Plain words (`PMS`) stay as they are.
 */
export function normalizeSystem(system: string): string {
  return system.replace(secureHl7, (_match, host: string) => `http://${host.toLowerCase()}`);
}

/** Systems of other organisations that HL7 only gives a URI (ICD-10, national identifiers). */
const lentPrefix = 'http://hl7.org/fhir/sid/';

/** URI prefixes of systems whose codes are known to be case-sensitive: HL7's own, UCUM, media types. */
const caseSensitivePrefixes: readonly string[] = [
  'http://hl7.org/fhir/',
  'http://terminology.hl7.org/',
  'http://unitsofmeasure.org',
  'urn:ietf:bcp:13',
];

/**
 * Whether two codes of the system that differ only in case are different codes. R4: where that is in doubt, servers
 * SHOULD treat tokens case-insensitively; it is in doubt for every system but the listed ones, and without a system.
 */
export function isCaseSensitiveSystem(system: string): boolean {
  if (system === '') return false;
  const canonical = normalizeSystem(system);
  if (canonical.startsWith(lentPrefix)) return false;
  return caseSensitivePrefixes.some((prefix) => canonical.startsWith(prefix));
}
