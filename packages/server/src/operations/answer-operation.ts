/**
 * From a path with `$name` to the operation and its answer (https://hl7.org/fhir/R4/operations.html#executing). What is
 * checked, in this order: that the operation exists there, the method, access, then parameters.
 */
import { suggestName } from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import { openAudit, recordSearchedPatients } from '../engine/audit-recorder.ts';
import type { FhirCall, FhirResponse, InteractionContext } from '../engine/context.ts';
import { withIdempotency } from '../engine/write/idempotency.ts';
import { requireUnended } from '../storage/rows.ts';
import type { Operation, OperationLevel, OperationPlace } from './operation.ts';
import { readInput } from './read-input.ts';
import { isDefinedOn, listOperations } from './registry.ts';

/** A request for an operation. */
export interface OperationCall extends Pick<FhirCall, 'type' | 'id' | 'versionId' | 'open'> {
  /** Without the `$`. */
  readonly operation: string;
  readonly method: string;
}

/**
 * The operation's answer.
 * @throws PraxisError `operation-unknown`, `method-not-allowed`, `access-denied`, `operation-parameter-invalid`, and what
 *   the operation itself refuses with
 */
export async function answerOperation(context: InteractionContext, call: OperationCall): Promise<FhirResponse> {
  const place = placeOf(call);
  const { operation, type, id, versionId } = call;
  const audit = openAudit(context, { interaction: `$${operation}`, type, id, versionId });
  try {
    return audit.answered(await answerAt(audit.inside, call, place));
  } catch (error) {
    throw audit.refused(error);
  }
}

async function answerAt(context: InteractionContext, call: OperationCall, place: OperationPlace) {
  const operation = requireOperation(call, place);
  operation.authorize(context, place);
  const request = await call.open();
  const input = await readInput(operation, call.method, request, context.budget);
  recordSearchedPatients(context, request);
  const asked = { ...request, place, input };
  if (operation.affectsState) return await withIdempotency(context, request, (once) => operation.answer(once, asked));
  const answer = await operation.answer(context, asked);
  requireUnended(context.scope, context.clock.now()); // $validate waits for others after its last statement
  return answer;
}

/** @throws PraxisError `operation-unknown`, `method-not-allowed`, `access-denied` */
export function authorizeOperation(context: InteractionContext, call: OperationCall): void {
  const place = placeOf(call);
  requireOperation(call, place).authorize(context, place);
}

/** @throws PraxisError `method-not-allowed` for what is no entry of a Bundle */
export function requireEntry(call: Pick<OperationCall, 'operation'>): void {
  if (!listOperations().some(({ name, standsAlone }) => name === call.operation && standsAlone === true)) return;
  fail('method-not-allowed', {
    diagnostics: `$${call.operation} is not asked in a Bundle: send it by itself`,
    headers: { allow: '' },
  });
}

/** Whether the operation answers with no resource, so that no format of FHIR is asked for. */
export function answersPlainly(name: string): boolean {
  return listOperations().some((each) => each.name === name && each.answers !== undefined);
}

/** Whether answers of the operation are lists. */
export function answersList(name: string): boolean {
  return listOperations().some((each) => each.name === name && each.isList === true);
}

function placeOf({ type, id, versionId }: OperationCall): OperationPlace {
  if (type === '') return { level: 'system' };
  if (id === '') return { level: 'type', type };
  return { level: 'instance', type, id, ...(versionId === '' ? {} : { versionId }) };
}

/**
 * The operation of a call, looked at before access: which operations there are is no secret.
 * @throws PraxisError `operation-unknown`, `method-not-allowed`
 */
function requireOperation(call: OperationCall, place: OperationPlace): Operation {
  const named = listOperations().filter((each) => each.name === call.operation && isDefinedOn(each, call.type));
  if (named.length === 0) return unknown(call, place);
  const here = named.filter((each) => isAt(each, place));
  if (here.length === 0) return wrongLevel(call, named);
  const operation = here.find((each) => listMethods(each).includes(call.method));
  if (operation !== undefined) return operation;
  const methods = here.flatMap(listMethods).join(', ');
  const reason = here.some(({ affectsState }) => affectsState) ? 'changes what is stored and ' : '';
  return fail('method-not-allowed', {
    diagnostics: `$${call.operation} ${reason}takes ${methods}`,
    headers: { allow: methods },
  });
}

/** The methods that an operation takes; HEAD is GET without a body. */
export function listMethods({ affectsState, methods }: Operation): readonly string[] {
  return methods ?? (affectsState ? ['POST'] : ['GET', 'HEAD', 'POST']);
}

function isAt({ levels, ofVersions }: Operation, place: OperationPlace): boolean {
  const isOfVersion = place.level === 'instance' && place.versionId !== undefined;
  return levels.includes(place.level) && (!isOfVersion || ofVersions === true);
}

function unknown({ operation, type }: OperationCall, place: OperationPlace): never {
  const served = listOperations().filter((each) => isDefinedOn(each, type) && isAt(each, place));
  const names = new Set(served.map(({ name }) => `$${name}`));
  const hint = suggestName(`$${operation}`, names) || '.';
  return fail('operation-unknown', {
    diagnostics: `$${operation} is not an operation of this path${hint} Supported here: ${[...names].join(', ') || 'none'}`,
  });
}

function wrongLevel({ operation, type }: OperationCall, named: readonly Operation[]): never {
  const paths = named.flatMap((each) => each.levels.map((level) => pathAt(each, level, type)));
  return fail('method-not-allowed', {
    diagnostics: `$${operation} is not asked of this path but of ${[...new Set(paths)].join(' or ')}`,
    headers: { allow: '' },
  });
}

function pathAt({ name, types }: Operation, level: OperationLevel, asked: string): string {
  if (level === 'system') return `/$${name}`;
  const type = asked !== '' ? asked : types === 'all' || types.length > 1 ? '{Type}' : types[0];
  return level === 'type' ? `/${type}/$${name}` : `/${type}/{id}/$${name}`;
}
