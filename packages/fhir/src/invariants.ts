/**
 * The FHIRPath invariants of R4's base definitions and R4's official profiles, as data. Both tables are loaded on first
 * use: who only reads and writes resources needs neither. Evaluating them is the server's part.
 *
 * https://hl7.org/fhir/R4/conformance-rules.html#constraints · https://hl7.org/fhir/R4/profilelist.html
 */
import { type JsonObject, parseJson } from './json.ts';

/** https://hl7.org/fhir/R4/elementdefinition-definitions.html#ElementDefinition.constraint */
export interface Invariant {
  /** 'obs-6'; unique within the type that it stands in only. */
  readonly key: string;
  readonly severity: 'error' | 'warning';
  /** FHIRPath; evaluated on the element. Two invariants of R4 have none: ''. */
  readonly expression: string;
  readonly human: string;
}

export interface DefinedRules {
  /**
   * The invariants that are declared at a type ('Period', 'DomainResource') or an element ('Observation.component'),
   * as R4 publishes them, in its order. Those of the base types of a type stand at the base types.
   */
  invariantsAt(path: string): readonly Invariant[];
  /** All paths that have some. */
  readonly invariantPaths: readonly string[];
  /**
   * The StructureDefinition of an official profile or extension by canonical URL without version: url, type and of the
   * snapshot only what a validator reads and the base types do not say. Undefined for other URLs, also for base types.
   */
  officialProfile(url: string): JsonObject | undefined;
  readonly officialProfileUrls: readonly string[];
}

let loaded: Promise<DefinedRules> | undefined;

/** The tables, read once per process. */
export function loadDefinedRules(): Promise<DefinedRules> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<DefinedRules> {
  const [{ constraintTexts }, { profileTexts }] = await Promise.all([
    import('./generated/constraints.js'),
    import('./generated/profiles.js'),
  ]);
  const invariants = new Map<string, readonly Invariant[]>();
  const profiles = new Map<string, JsonObject>();
  return {
    invariantsAt(path) {
      let found = invariants.get(path);
      if (found === undefined && Object.hasOwn(constraintTexts, path)) {
        found = (constraintTexts[path] ?? '').split('\n').map(parseInvariant);
        invariants.set(path, found);
      }
      return found ?? [];
    },
    invariantPaths: Object.keys(constraintTexts),
    officialProfile(url) {
      let found = profiles.get(url);
      if (found === undefined && Object.hasOwn(profileTexts, url)) {
        found = parseProfile(profileTexts[url] ?? '');
        profiles.set(url, found);
      }
      return found;
    },
    officialProfileUrls: Object.keys(profileTexts),
  };
}

// The format is described in tools/generate-fhir/constraints.ts.
function parseInvariant(line: string): Invariant {
  const fields: unknown = JSON.parse(line);
  const [key, severity, expression, human] = Array.isArray(fields) ? fields.map(String) : [];
  if (key === undefined || expression === undefined || human === undefined)
    throw new Error(`Not an invariant: ${line}`);
  return { key, severity: severity === 'warning' ? 'warning' : 'error', expression, human };
}

function parseProfile(text: string): JsonObject {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || JSON.isRawJSON(value)) {
    throw new Error(`Not a profile: ${text.slice(0, 64)}`);
  }
  return value;
}
