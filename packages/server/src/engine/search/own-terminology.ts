/**
 * The terminology of one caller: R4's, and those ValueSets and CodeSystems of the firm that the caller may search for,
 * with the elements that it may see. What it may not see does not exist for it, so expansions tell nothing of it.
 */
import { type JsonObject, parseJsonObject } from '@praxis/fhir';
import { unwrapDisclosed } from '../../access/disclosure.ts';
import { openTerminology, type Terminology, type TerminologyKind } from '../../terminology/terminology.ts';
import type { InteractionContext } from '../context.ts';
import { refuseDeleted } from '../read/read.ts';
import { refuseNotFound } from '../rights/denials.ts';
import { discloseRow } from '../rights/disclosing.ts';
import { openFirmTerminology } from './firm-terminology.ts';
import { planSearch, strictly } from './searching.ts';

/** For one request: what is looked up is remembered. */
export function openRequestTerminology(context: InteractionContext): Terminology {
  return openTerminology(
    context.budget,
    openFirmTerminology(context, (kind, asked) => planSearch(context, kind, asked, strictly)),
  );
}

/**
 * The firm's resource `id` as the caller may read it.
 * @throws PraxisError `resource-not-found`, `resource-deleted`, as `read`
 */
export async function readOwn(context: InteractionContext, type: TerminologyKind, id: string): Promise<JsonObject> {
  const row = await context.store.read(context.scope, type, id);
  if (row === undefined) return refuseNotFound(type, id);
  if (row.deleted) return refuseDeleted(context, row);
  const body = discloseRow(context, 'r', row, {});
  return body === undefined ? refuseNotFound(type, id) : parseJsonObject(unwrapDisclosed(body));
}
