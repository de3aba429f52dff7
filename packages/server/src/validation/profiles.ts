/**
 * The profiles that a validation needs: those asked for and all that they refer to. R4's official ones come with
 * @praxis/fhir, others through a callback.
 *
 * https://hl7.org/fhir/R4/references.html#canonical
 */
import { findTypeDefinition, type JsonObject, type OfficialProfiles } from '@praxis/fhir';
import { toPlain } from './plain.ts';
import { blankElement, type Profile, type ProfileElement, parseProfile } from './profile.ts';
import { stripVersion } from './run.ts';

/** The StructureDefinition of a canonical URL (`url` or `url|version`); undefined when there is none. */
export type ProfileLookup = (canonical: string) => Promise<JsonObject | undefined>;

export interface LoadedProfiles {
  /** By the canonicals that name them, with and without version. */
  readonly profiles: ReadonlyMap<string, Profile>;
  /** Canonicals of what cannot be used → why: it does not exist, or is no profile. */
  readonly problems: ReadonlyMap<string, string>;
  /** What the callback gave: canonical → StructureDefinition. */
  readonly definitions: ReadonlyMap<string, JsonObject>;
}

/** Profiles of one validation, at most. */
export const profilesMax = 200;

const baseTypePrefix = 'http://hl7.org/fhir/StructureDefinition/';

const parsed = new Map<string, Profile | string>();

/** The profiles of the canonicals, and of those that they refer to, and so on. */
export async function loadProfiles(
  official: OfficialProfiles,
  canonicals: readonly string[],
  lookup: ProfileLookup,
): Promise<LoadedProfiles> {
  const profiles = new Map<string, Profile>();
  const problems = new Map<string, string>();
  const definitions = new Map<string, JsonObject>();
  const queue = [...canonicals];
  for (const canonical of queue) {
    if (profiles.has(canonical) || problems.has(canonical)) continue;
    if (profiles.size + problems.size >= profilesMax) {
      problems.set(canonical, `it is not among the first ${profilesMax} profiles that the validation needs`);
      continue;
    }
    const found = await load(official, canonical, lookup, definitions);
    if (typeof found === 'string') problems.set(canonical, found);
    else {
      profiles.set(canonical, found);
      queue.push(...referredTo(found.root));
    }
  }
  return { profiles, problems, definitions };
}

async function load(
  official: OfficialProfiles,
  canonical: string,
  lookup: ProfileLookup,
  definitions: Map<string, JsonObject>,
): Promise<Profile | string> {
  const known = baseType(canonical) ?? officialProfile(official, canonical);
  if (known !== undefined) return known;
  const definition = await lookup(canonical);
  if (definition === undefined) return 'no StructureDefinition of this canonical URL is known here';
  definitions.set(canonical, definition);
  return parseProfile(toPlain(definition));
}

/** A base type asks nothing but its type: the rest is the structure check. */
function baseType(canonical: string): Profile | undefined {
  const url = stripVersion(canonical);
  if (!url.startsWith(baseTypePrefix)) return undefined;
  const type = findTypeDefinition(url.slice(baseTypePrefix.length))?.name;
  return type === undefined ? undefined : { url, version: undefined, type, root: blankElement };
}

function officialProfile(profiles: OfficialProfiles, canonical: string): Profile | string | undefined {
  const url = stripVersion(canonical);
  const definition = parsed.has(url) ? undefined : profiles.officialProfile(url);
  if (definition !== undefined) parsed.set(url, parseProfile(toPlain(definition)));
  return parsed.get(url);
}

function referredTo(element: ProfileElement): string[] {
  const own = (element.types ?? []).flatMap(({ profiles, targets }) => [...profiles, ...targets]);
  return [...own, ...[...element.children.values(), ...element.slices].flatMap(referredTo)];
}
