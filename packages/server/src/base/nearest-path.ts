/** The path of a grammar that is nearest to one that does not exist, for "did you mean". */
import { findNearestName } from '@praxis/fhir/suggestion';

/** Segments of a path that are looked at; a longer one is like no template but those with a rest. */
const segmentsMax = 12;

/**
 * `: did you mean /auth/realms/{realm}/…?`, to follow what says that a path is unknown; empty when none is near. It shows the template:
 * what the sender wrote for a placeholder is not repeated.
 * @param templates the segments of each path; `{…}` stands for a name, `…` for one segment or more
 * @param published by placeholder, the names that may be suggested; of those without a row there are none
 */
export function suggestNearestPath(
  path: string,
  templates: Iterable<readonly string[]>,
  published: Readonly<Record<string, readonly string[]>> = {},
): string {
  const given = path.split('/', segmentsMax + 2).filter((segment) => segment !== '');
  const hasEmpty = path.length > 1 && (path.endsWith('/') || path.includes('//'));
  let nearest: Likeness | undefined;
  for (const template of templates) {
    const likeness = compareSegments(template, given, published);
    if (likeness === undefined || (likeness.corrections === 0 && !hasEmpty)) continue;
    if (nearest === undefined || likeness.corrections < nearest.corrections) nearest = likeness;
  }
  return nearest === undefined ? '' : `: did you mean /${nearest.segments.join('/')}?`;
}

interface Likeness {
  readonly segments: readonly string[];
  readonly corrections: number;
}

/** Undefined where the path is not like the template. */
function compareSegments(
  template: readonly string[],
  given: readonly string[],
  published: Readonly<Record<string, readonly string[]>>,
): Likeness | undefined {
  const hasRest = template.at(-1) === '…';
  if (hasRest ? given.length < template.length : given.length !== template.length) return undefined;
  const segments: string[] = [];
  let corrections = 0;
  for (const [index, part] of template.entries()) {
    const text = given[index] ?? '';
    const isOpen = part === '…' || part.startsWith('{');
    const meant = isOpen ? (findNearestName(text, published[part] ?? []) ?? part) : correctWord(part, text);
    if (meant === undefined) return undefined;
    segments.push(meant);
    // A name that is not published is left as it was, and shown as its placeholder.
    if (meant !== text && !(isOpen && meant === part)) corrections += 1;
  }
  return { segments, corrections };
}

/** The word of the template, where the text is near to it. Versions are near to each other. */
function correctWord(word: string, text: string): string | undefined {
  if (word === 'v2' && /^[vr]\d{1,2}$/i.test(text)) return word;
  return findNearestName(text, [word]);
}
