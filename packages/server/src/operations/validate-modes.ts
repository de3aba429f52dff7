/**
 * What the modes of $validate ask beside the content: whether a create, update or delete would be carried out, and the
 * stored resource where none is sent. Each learns no more than the interaction itself would tell.
 *
 * https://hl7.org/fhir/R4/valueset-resource-validation-mode.html
 */
import type { JsonObject } from '@praxis/fhir';
import { coversRow } from '../access/mask.ts';
import { errorTable, PraxisError } from '../base/errors.ts';
import { makeResourceId } from '../base/ids.ts';
import type { InteractionContext } from '../engine/context.ts';
import { refuseNotFound } from '../engine/rights/denials.ts';
import { compileCriterionTest } from '../engine/rights/disclosing.ts';
import { readWhole } from '../engine/rights/whole-resource.ts';
import { requireCreatable, requireReplaceable } from '../engine/rights/write-rights.ts';
import { findUnbound, requireBound, requireBoundAfter } from '../engine/write/bindings.ts';
import { buildWrite, requireValidId } from '../engine/write/build-write.ts';
import { mayCreateUnder, requireReadable } from '../engine/write/update.ts';
import type { Finding } from '../validation/validation.ts';
import type { OperationRequest } from './operation.ts';
import { refuseParameter } from './parameter-problem.ts';

/** $validate is asked of a type or an instance. */
export type ValidateRequest = OperationRequest<'type' | 'instance'>;

/**
 * The stored resource of the path.
 * @throws PraxisError `operation-parameter-invalid` at a type, `resource-not-found`, `access-denied`
 */
export async function readStoredResource(context: InteractionContext, { place }: ValidateRequest): Promise<JsonObject> {
  if (place.level !== 'instance')
    return refuseParameter('resource', 'is missing: only an instance can be validated without sending it');
  return readWhole(context, place.type, place.id);
}

/** Whether a delete would be carried out: who may delete at all may delete every row. */
export async function checkDelete(context: InteractionContext, { place }: ValidateRequest): Promise<Finding[]> {
  if (place.level !== 'instance')
    return refuseParameter('mode', 'delete is asked of an instance: the id stands in the path');
  const { type, id } = place;
  requireValidId(id);
  const row = await context.store.read(context.scope, type, id);
  if (row !== undefined && !row.deleted) return [];
  const text = `${type}/${id} does not exist: deleting it would change nothing`;
  return [{ severity: 'information', code: 'informational', path: type, rule: 'exists', diagnostics: text }];
}

/**
 * Whether a create would be carried out: the caller's rows and elements.
 * @param isSound whether nothing is wrong with the content: else the caller's rows cannot be told
 */
export async function checkCreate(
  context: InteractionContext,
  { type }: ValidateRequest,
  resource: JsonObject,
  isSound: boolean,
): Promise<Finding[]> {
  if (!isSound) return [];
  return refusals(type, async () => {
    requireCreatable(context, await buildWrite(context, 'create', type, makeResourceId(context.clock), resource, 0));
    await requireBound(context, type, undefined, resource);
  });
}

/**
 * What a create would be refused for by the codes that the firm keeps, as warnings: what is asked about may be stored with
 * them already. Only for those who may write the type, who would be told then.
 */
export async function checkFirmCodes(
  context: InteractionContext,
  { type }: ValidateRequest,
  resource: JsonObject,
): Promise<Finding[]> {
  if (!(['c', 'u'] as const).some((letter) => context.policy.allows(type, letter))) return [];
  const issues = await findUnbound(context, type, undefined, resource);
  return issues.map(({ diagnostics, expression: [path = type] = [] }) => ({
    ...issue('code-invalid', path, 'rule-broken', diagnostics),
    severity: 'warning',
  }));
}

/**
 * Whether a PUT of the resource would be carried out: its id, its target, the caller's rows and elements.
 * @param isSound whether nothing is wrong with the content: else the caller's rows cannot be told
 */
export async function checkUpdate(
  context: InteractionContext,
  { place }: ValidateRequest,
  resource: JsonObject,
  isSound: boolean,
): Promise<Finding[]> {
  const { type } = place;
  const id = place.level === 'instance' ? place.id : resource.id;
  if (typeof id !== 'string' || resource.id !== id) {
    const rule = 'the body of an update carries the id of the path';
    const problem = resource.id === undefined ? 'is missing' : 'differs from the id in the path';
    return [issue('value', `${type}.id`, 'id', `id ${problem}: ${rule}`)];
  }
  return refusals(type, async () => {
    requireValidId(id);
    requireReadable(context, type);
    const current = await context.store.read(context.scope, type, id);
    const isLive = current !== undefined && !current.deleted;
    const isCovered =
      isLive && coversRow(context.policy, 'u', type, compileCriterionTest(context, type, current.content));
    if (!isCovered && (isLive || !mayCreateUnder(context, type))) refuseNotFound(type, id);
    if (!isSound) return;
    const write = await buildWrite(context, 'update', type, id, resource, 0);
    requireReplaceable(context, isLive ? current.content : undefined, write);
    if (isLive) await requireBoundAfter(context, current, resource);
  });
}

/** What an update would be refused with, as issues. */
async function refusals(type: string, attempt: () => Promise<void>): Promise<Finding[]> {
  try {
    await attempt();
    return [];
  } catch (error) {
    if (!(error instanceof PraxisError) || error.status >= 500) throw error;
    return error.issues.map(({ diagnostics, issue: code }) =>
      issue(code ?? errorTable[error.code].issue, type, error.code, diagnostics),
    );
  }
}

function issue(code: string, path: string, rule: string, diagnostics: string): Finding {
  return { severity: 'error', code, path, rule, diagnostics };
}
