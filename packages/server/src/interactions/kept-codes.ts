/** The judgement of resources by the codes that the firm keeps (docs/decisions/0205), for one caller. */
import { type JsonObject, parseJson } from '@praxis/fhir';
import { contentOf } from '../access/disclosure.ts';
import { type FirmCodesContext, requireFirmCodes } from '../resources/firm-codes.ts';
import type { StoredResource } from '../storage/store.ts';
import { keptCodes } from '../storage/value-sets.ts';
import type { InteractionContext } from './context.ts';

type CodesContext = Pick<InteractionContext, 'scope' | 'store' | 'policy' | 'budget'>;

/** Codes are named to those who may read any ValueSet in full. */
export function firmCodesContext({ scope, store, policy, budget }: CodesContext): FirmCodesContext {
  const grants = (['r', 's'] as const).flatMap((letter) => policy.grants('ValueSet', letter));
  const maySeeCodes = grants.some(({ criteria, elements }) => criteria.length === 0 && elements === 'all');
  return { keptCodes: (ids) => keptCodes(store, scope, ids), maySeeCodes, budget };
}

/**
 * What a PUT of the resource would be refused for.
 * @param current a live version; whoever asks may read all of it
 * @throws PraxisError `rule-broken`
 */
export async function requireCodesAfter(
  context: CodesContext,
  current: StoredResource,
  resource: JsonObject,
): Promise<void> {
  const before = parseJson(contentOf(current.content)) as JsonObject; // storage holds objects only
  await requireFirmCodes(firmCodesContext(context), current.type, before, resource);
}
