/**
 * What create and update share: from a received body to a stored version, and the answer to the writer.
 */
import {
  type Budget,
  type BudgetedWork,
  isJsonObject,
  isWrittenInParts,
  type JsonObject,
  type JsonValue,
  parseJsonObject,
  type StepBudget,
  type TypedResource,
  type ValidationIssue,
  validateInSlices,
  validateResource,
  writeJsonInParts,
} from '@praxis/fhir';
import { boxStored, type Disclosed, getStoredText, parseStored } from '../../access/disclosure.ts';
import { disclose } from '../../access/mask.ts';
import type { Permission } from '../../access/policy.ts';
import { allEntry } from '../../access/registry.ts';
import type { AuditRow } from '../../audit/audit-row.ts';
import { findPatients } from '../../audit/patients.ts';
import { toInstant } from '../../base/clock.ts';
import { fail } from '../../base/errors.ts';
import { type IndexRows, indexResource, type ResourceContext } from '../../search/index/index-rows.ts';
import { computeIndexRules } from '../../search/index/index-rules.ts';
import type { ResourceWrite, StoredResource } from '../../storage/store.ts';
import type { FhirRequest, FhirResponse, InteractionContext } from '../context.ts';
import { listHooks, toSent } from '../hooks.ts';
import { buildWrittenOutcome } from '../outcome.ts';
import { withReferencesFor } from '../read/references.ts';
import { discloseReadable } from '../rights/disclosing.ts';
import { findBreaches } from './invariants.ts';
import { wholeRules } from './whole-rules.ts';

const idPattern = /^[A-Za-z0-9\-.]{1,64}$/;

/** @throws PraxisError `id-invalid` when `id` breaks R4's id format. */
export function requireValidId(id: string): void {
  if (!idPattern.test(id)) {
    fail('id-invalid', {
      diagnostics: 'The id must be 1 to 64 characters of A–Z, a–z, 0–9, hyphen and dot',
      expression: ['id'],
    });
  }
}

/**
 * The body as a valid resource of `type`.
 * @param advice added to the first issue when a required element is missing
 * @throws PraxisError `resource-type-mismatch`, `resource-invalid`, `invariant-broken` (all issues, each with path and rule),
 *   `search-parameter-unservable`, `too-costly`
 */
export function requireResource<T extends string>(
  body: JsonValue,
  type: T,
  budget: StepBudget,
  advice?: string,
): TypedResource<T> {
  refuseOtherType(body, type);
  return requireNoIssue(body, type, validateResource(body, { type, budget }), budget, advice);
}

/** As `requireResource`. Others go on while a large resource is looked at. */
export async function requireResourceInSlices<T extends string>(
  body: JsonValue,
  type: T,
  budget: Budget,
  advice?: string,
): Promise<TypedResource<T>> {
  refuseOtherType(body, type);
  return requireNoIssue(body, type, await validateInSlices(body, { type, budget }), budget, advice);
}

/** @throws PraxisError `resource-type-mismatch` */
function refuseOtherType(body: JsonValue, type: string): void {
  const named = typeof body === 'object' && body !== null && 'resourceType' in body ? body.resourceType : undefined;
  if (typeof named !== 'string' || named === type) return;
  fail('resource-type-mismatch', {
    diagnostics: `resourceType must be ${type}, the type in the path`,
    expression: ['resourceType'],
  });
}

function requireNoIssue<T extends string>(
  body: JsonValue,
  type: T,
  found: readonly ValidationIssue[],
  budget: StepBudget,
  advice: string | undefined,
): TypedResource<T> {
  const issues = found.filter((issue) => issue.severity === 'error');
  const [first, ...more] = issues;
  if (first) {
    const isSound = issues.every(({ code }) => code === 'invariant');
    const isPartial = advice !== undefined && issues.some(({ rule }) => rule === 'cardinality-min');
    const { diagnostics, ...rest } = toErrorIssue(first);
    fail(isSound ? 'invariant-broken' : 'resource-invalid', {
      ...rest,
      diagnostics: isPartial ? `${diagnostics}. ${advice}` : diagnostics,
      more: more.map(toErrorIssue),
    });
  }
  if (!isJsonObject(body)) throw new TypeError('a valid resource is an object');
  wholeRules.get(type)?.(body, budget);
  return body as TypedResource<T>; // it is valid
}

function toErrorIssue(issue: ValidationIssue) {
  return { issue: issue.code, diagnostics: issue.diagnostics, expression: [issue.path] };
}

/** The resource with server-managed id and meta; the caller's other meta elements are kept. */
function stamp(resource: JsonObject, id: string, versionId: number, lastUpdatedMs: number): JsonObject {
  const { resourceType, id: _id, meta, ...rest } = resource;
  const given = isJsonObject(meta) ? meta : {};
  return {
    ...(resourceType === undefined ? {} : { resourceType }),
    id,
    meta: { ...given, versionId: String(versionId), lastUpdated: toInstant(lastUpdatedMs) },
    ...rest,
  };
}

/** The work of a write between its statements. */
export const buildingWrite: BudgetedWork = { what: 'Writing the resource', cheaper: 'send a smaller one' };

/** What a write needs of its context; imports and seeds have no policy or request, and the operator's rights. */
export type BuildWriteContext = Pick<InteractionContext, 'scope' | 'clock' | 'caller' | 'baseUrl' | 'budget'> &
  Partial<InteractionContext> & {
    /** What is written is the service's own: the hooks that prepare the writes of others are not asked. */
    readonly isPrepared?: true;
  };

/**
 * The write of `resource` as version `expectedVersion + 1` of `type`/`id`. Others go on while that of a large one is made.
 * @param before the version that it replaces, where that is at hand: index rows that both have are not sent
 * @throws PraxisError `too-costly`, CostlyParameters
 */
export async function buildWrite<T extends string>(
  context: BuildWriteContext,
  interaction: AuditRow['interaction'],
  type: T,
  id: string,
  resource: TypedResource<T>,
  expectedVersion: number,
  before?: StoredResource,
): Promise<ResourceWrite<T>> {
  let prepared: JsonObject = resource;
  for (const prepare of context.isPrepared ? [] : listHooks('prepare', type))
    prepared = await prepare(context, prepared, { id, before });
  const lastUpdatedMs = context.clock.now();
  const { timeZone, searchParameters } = context.scope;
  const stamped = stamp(prepared, id, expectedVersion + 1, lastUpdatedMs);
  const asSent = await textOf(stamped, context.budget);
  const text = listHooks('toStored', type).reduce((made, toStored) => toStored(made, context.baseUrl), asSent);
  const content = text === asSent ? stamped : parseJsonObject(text); // as before, but for URLs of content
  await context.budget.turn(buildingWrite);
  const place = { timeZone, searchParameters, baseUrl: context.baseUrl, characters: text.length };
  const index = await indexResource(type, content, place, context.budget);
  await context.budget.turn(buildingWrite);
  const indexRules = computeIndexRules(place);
  const indexBefore = indexRules === undefined ? undefined : await indexVersion(before, place, context.budget);
  return {
    type,
    id,
    expectedVersion,
    lastUpdatedMs,
    content: boxStored(text, content),
    index,
    ...(indexRules === undefined ? {} : { indexRules }),
    ...(indexBefore === undefined ? {} : { indexBefore }),
    audit: buildAuditRow(context, interaction, { type, id, text }),
    breaches: await findBreaches(content, context.budget),
  };
}

/** Characters of a version up to which making its index rows anew costs less than comparing them in the database. */
const comparedCharactersMax = 32_768;

/** The index rows of a stored version; undefined: the database compares them. */
async function indexVersion(
  version: StoredResource | undefined,
  place: Omit<ResourceContext, 'characters'>,
  budget: Budget,
): Promise<IndexRows | undefined> {
  if (version === undefined || version.deleted) return undefined;
  const characters = getStoredText(version.content).length;
  if (characters > comparedCharactersMax) return undefined;
  return await indexResource(version.type, parseStored(version.content), { ...place, characters }, budget);
}

/** The JSON text of a resource; of a large one in slices. */
async function textOf(resource: JsonObject, budget: Budget): Promise<string> {
  if (!isWrittenInParts(resource)) return JSON.stringify(resource);
  const writing = writeJsonInParts(resource);
  let written = writing.next();
  for (; written.done !== true; written = writing.next()) await budget.breathe(buildingWrite);
  return written.value;
}

/** The audit row of a write by this caller. @param written the new version, or the one that is deleted */
export function buildAuditRow(
  context: BuildWriteContext,
  interaction: AuditRow['interaction'],
  written: { readonly type: string; readonly id: string; readonly text: string },
): AuditRow {
  const { clock, policy, baseUrl, note } = context;
  if (note !== undefined) note.wrote = true;
  const { flow, tokenId, subject, requestId } = context.caller;
  const grants = interaction === 'delete' ? [] : policy?.grants(written.type, writePermissions[interaction]);
  const entries = grants?.flatMap((grant) => grant.entries) ?? [];
  const patients = findPatients(written.type, written.id, written.text, baseUrl);
  return {
    atMs: clock.now(),
    interaction,
    flow,
    tokenId,
    subject,
    requestId,
    entries: entries.length === 0 ? [allEntry] : [...new Set(entries)],
    ...(patients === undefined ? {} : { patients }),
  };
}

const writePermissions = { create: 'c', update: 'u', patch: 'u' } as const;

/**
 * The answer that shows a stored version as far as the caller may read it, in the form that Prefer asks for.
 * @param outcome makes the body for `Prefer: return=OperationOutcome`
 */
export function buildReadableResponse(
  context: InteractionContext,
  { prefer }: FhirRequest,
  row: StoredResource,
  outcome: () => Disclosed<string>,
): FhirResponse {
  const { type, id, versionId, lastUpdatedMs } = row;
  const location = `${context.baseUrl}/${type}/${id}/_history/${versionId}`;
  const facts = { status: 200, id, versionId, lastUpdatedMs, location };
  if (prefer.return === 'minimal') return facts;
  const body = prefer.return === 'OperationOutcome' ? outcome() : discloseReadable(context, row);
  return body === undefined ? facts : { ...facts, body };
}

/** The answer to a create or update: status, headers, and the body that Prefer asks for (default: the resource). */
export function buildWriteResponse(
  context: InteractionContext,
  request: FhirRequest,
  letter: Permission,
  write: ResourceWrite,
  status: 200 | 201,
): FhirResponse {
  const versionId = write.expectedVersion + 1;
  const resource = `${context.baseUrl}/${write.type}/${write.id}`;
  const location = context.settings.unversionedLocation ? resource : `${resource}/_history/${versionId}`;
  const body = writtenBody(context, request, letter, write);
  const facts = { status, id: write.id, versionId, lastUpdatedMs: write.lastUpdatedMs, location };
  return body === undefined ? facts : { ...facts, body };
}

function writtenBody(
  context: InteractionContext,
  request: FhirRequest,
  letter: Permission,
  write: ResourceWrite,
): Disclosed<string> | undefined {
  if (request.prefer.return === 'minimal') return undefined;
  if (request.prefer.return === 'OperationOutcome') return buildWrittenOutcome(write.type, write.id, write.breaches);
  // The writer sent every element itself and `stamp` added only id and meta: the echo tells nothing new.
  const echo =
    write.content === null ? undefined : disclose(context.policy, letter, write.type, write.content, () => true, {});
  return echo && toSent(context, letter, write, withReferencesFor(context, echo));
}
