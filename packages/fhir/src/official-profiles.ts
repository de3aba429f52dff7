/**
 * R4's official profiles and extensions, as data. The table is loaded on first use: who only reads and writes resources does
 * not need it. Judging by them is the server's part.
 *
 * https://hl7.org/fhir/R4/profilelist.html
 */
import { type JsonObject, parseJsonObject } from './json.ts';
import { getOrMake } from './memo.ts';

export interface OfficialProfiles {
  /**
   * The StructureDefinition of an official profile or extension by canonical URL without version: url, type and of the
   * snapshot only what a validator reads and the base types do not say. Undefined for other URLs, also for base types.
   */
  officialProfile(url: string): JsonObject | undefined;
  readonly officialProfileUrls: readonly string[];
}

let loaded: Promise<OfficialProfiles> | undefined;

/** The table, read once per process. */
export function loadOfficialProfiles(): Promise<OfficialProfiles> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<OfficialProfiles> {
  const { profileTexts } = await import('./generated/profiles.js');
  const profiles = new Map<string, JsonObject>();
  return {
    officialProfile(url) {
      const text = Object.hasOwn(profileTexts, url) ? profileTexts[url] : undefined;
      return text === undefined ? undefined : getOrMake(profiles, url, () => parseJsonObject(text));
    },
    officialProfileUrls: Object.keys(profileTexts),
  };
}
