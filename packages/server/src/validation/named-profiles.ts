/**
 * Which profiles a resource names. In a file of its own: who asks for them needs nothing of what examines by them, which only
 * the thread of the validator loads.
 */
import { isPlainObject, listPlainObjects, type PlainObject } from './element-node.ts';
import { listStatedProfiles } from './plain.ts';

/**
 * The canonicals that a resource names: in meta.profile, of extensions, also inside. By the names of members alone, which in a
 * resource of sound structure stand for nothing else: a large one has too many elements to look at each by its type.
 */
export function listNamedProfiles(resource: object): readonly string[] {
  const names = new Set<string>();
  const left: unknown[] = [resource];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (isPlainObject(value)) for (const name of namesOf(value)) names.add(name);
    for (const inner of Array.isArray(value) ? value : Object.values(value ?? {}))
      if (typeof inner === 'object') left.push(inner);
  }
  return [...names];
}

function namesOf(members: PlainObject): readonly string[] {
  const extensions = [...listPlainObjects(members.extension), ...listPlainObjects(members.modifierExtension)];
  const urls = extensions.map(({ url }) => url).filter(isAbsoluteUrl);
  return 'resourceType' in members ? [...listStatedProfiles(members), ...urls] : urls;
}

/** Whether it is a URL and not a name. */
export function isAbsoluteUrl(url: unknown): url is string {
  return typeof url === 'string' && url.includes(':');
}
