/** "Did you mean" for access entries: of those that docs/integrate/access-entries.md lists. */
import { findNearestName, resourceTypesWithEndpoint } from '@praxis/fhir';
import type { EntryRefusal } from './refusal.ts';
import { allEntry, knownEntries } from './registry.ts';

const prefix = 'acl/';

/**
 * `: did you mean acl/pat_r?`, to follow the diagnostics of a refusal; empty when none is near. It is looked for where somebody reads it:
 * a scope may have many entries that are not understood.
 */
export function suggestEntry({ text, rule }: EntryRefusal): string {
  if (rule === 'type') {
    const type = findNearestName(/^system\/([^./?]*)/.exec(text)?.[1] ?? '', resourceTypesWithEndpoint);
    return type === undefined ? '' : `: did you mean system/${type}?`;
  }
  if (rule !== 'code' && rule !== 'prefix') return '';
  const written = text.startsWith(prefix) ? text : `${prefix}${text.replace(/^acl\W?/i, '')}`;
  const nearest = findNearestName(written, [allEntry, ...knownEntries]);
  return nearest === undefined ? '' : `: did you mean ${nearest}?`;
}
