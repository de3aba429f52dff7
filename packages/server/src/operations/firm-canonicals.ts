/**
 * The firm's own resources by canonical URL, as far as the caller may search and see them: for others they do not exist.
 *
 * https://hl7.org/fhir/R4/references.html#canonical
 */
import { type JsonObject, parseJsonObject } from '@praxis/fhir';
import { unwrapDisclosed } from '../access/disclosure.ts';
import { PraxisError } from '../base/errors.ts';
import type { InteractionContext } from '../engine/context.ts';
import { discloseRow } from '../engine/rights/disclosing.ts';
import { planSearch } from '../engine/search/searching.ts';
import { selectPage } from '../engine/search/select-page.ts';

/**
 * The resource of `type` with the canonical URL (`url` or `url|version`), masked for the caller; of several the one that
 * was changed last. Undefined: there is none that the caller may search by its URL.
 */
export async function findCanonical(
  context: InteractionContext,
  type: string,
  canonical: string,
): Promise<JsonObject | undefined> {
  if (!context.policy.allows(type, 's')) return undefined;
  const bar = canonical.indexOf('|');
  const [url, version] = bar < 0 ? [canonical, ''] : [canonical.slice(0, bar), canonical.slice(bar + 1)];
  const parameters: (readonly [string, string])[] = [
    ['url', escaped(url)],
    ...(version === '' ? [] : [['version', escaped(version)] as const]),
    ['_sort', '-_lastUpdated'],
    ['_count', '1'],
  ];
  try {
    const target = await planSearch(context, type, parameters, { return: undefined, handling: 'strict' });
    const [row] = (await selectPage(context, target)).rows;
    const text = row === undefined ? undefined : discloseRow(context, 's', row, {});
    return text && parseJsonObject(unwrapDisclosed(text));
  } catch (error) {
    if (error instanceof PraxisError && error.code === 'access-denied') return undefined;
    throw error;
  }
}

/** https://hl7.org/fhir/R4/search.html#escaping */
function escaped(text: string): string {
  return text.replace(/[\\,|$]/g, '\\$&');
}
