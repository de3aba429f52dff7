/**
 * The firm's own ValueSet and CodeSystem resources, as far as the caller may search them, for the terminology of one
 * request. https://hl7.org/fhir/R4/terminology-service.html
 */
import { parseJsonObject } from '@praxis/fhir';
import { unwrapDisclosed } from '../../access/disclosure.ts';
import { PraxisError } from '../../base/errors.ts';
import type { SearchParameters } from '../../search/query/query.ts';
import type { SearchTarget } from '../../search/sql/plan.ts';
import type { TerminologyLookup } from '../../terminology/terminology.ts';
import type { InteractionContext } from '../context.ts';
import { discloseRow } from '../rights/disclosing.ts';
import { selectPage } from './select-page.ts';

/** Plans a search with the caller's rights: `planSearch`, which uses this in turn. */
export type Plan = (type: string, parameters: SearchParameters) => Promise<SearchTarget>;

const separators = /[\\,|$]/g;

/**
 * Looks up what has the canonical URL, or lies at the address, absolute or relative: R4 lets a search name a value set by
 * either (https://hl7.org/fhir/R4/search.html#token). What the caller may not search is not there.
 */
export function openFirmTerminology(context: InteractionContext, plan: Plan): TerminologyLookup {
  return async (kind, url, version) => {
    const id = idAt(context, kind, url);
    const place: [string, string] = id === undefined ? ['url', url.replace(separators, '\\$&')] : ['_id', id];
    const versions: [string, string][] =
      version === undefined ? [] : [['version', version.replace(separators, '\\$&')]];
    const target = await unlessDenied(plan(kind, [place, ...versions, ['_sort', '-_lastUpdated'], ['_count', '1']]));
    if (target === undefined) return undefined;
    const [row] = (await selectPage(context, target)).rows;
    const disclosed = row && discloseRow(context, 's', row, {});
    return disclosed && parseJsonObject(unwrapDisclosed(disclosed));
  };
}

function idAt({ baseUrl }: InteractionContext, kind: string, url: string): string | undefined {
  const local = url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length + 1) : url;
  const [type, id = '', ...more] = local.split('/');
  return type === kind && more.length === 0 && /^[A-Za-z0-9\-.]{1,64}$/.test(id) ? id : undefined;
}

async function unlessDenied(planned: Promise<SearchTarget>): Promise<SearchTarget | undefined> {
  try {
    return await planned;
  } catch (error) {
    if (error instanceof PraxisError && error.code === 'access-denied') return undefined;
    throw error;
  }
}
