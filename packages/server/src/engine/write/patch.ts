/**
 * patch: a change of some elements (https://hl7.org/fhir/R4/http.html#patch), as JSON Patch or FHIRPath Patch. What it
 * would tell of elements that the caller may not read: patch-rights.ts.
 */

import {
  type Budget,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  openAllotment,
  type Patch,
  PatchError,
  readFhirPathPatch,
  readJsonPatch,
  type StepBudget,
  validateResource,
} from '@praxis/fhir';
import { getStoredText, parseStored, parseStoredInSlices } from '../../access/disclosure.ts';
import { canReadAll } from '../../access/policy.ts';
import { fail } from '../../base/errors.ts';
import { buildJsonRequest, makeLargeObservation, makeLargePatient, makeMany } from '../../base/worst-case.ts';
import { makeTooCostlyError } from '../../limits/budgets.ts';
import type { ResourceWrite, StoredResource } from '../../storage/store.ts';
import type { FhirRequest, FhirResponse, Interaction, InteractionContext, PatchDocument } from '../context.ts';
import { findHook } from '../hooks.ts';
import { buildWrittenOutcome } from '../outcome.ts';
import { requireMatch, requireNoneMatch } from '../preconditions.ts';
import { refuseDeleted } from '../read/read.ts';
import { refuseNotFound, requireGrants } from '../rights/denials.ts';
import { compileCriterionTest } from '../rights/disclosing.ts';
import { requirePatchable, withoutUnusedContained } from '../rights/patch-rights.ts';
import { compileReadable, type Readable } from '../rights/readable-members.ts';
import { requireTouchable, requireTouched } from '../rights/write-rights.ts';
import {
  buildingWrite,
  buildReadableResponse,
  buildWrite,
  requireResourceInSlices,
  requireValidId,
} from './build-write.ts';
import { findBreaches } from './invariants.ts';
import { withSafeNarrative } from './patched-narrative.ts';
import { requireWritable } from './read-only-types.ts';
import { attemptsMax, type SaveOptions, saveVersion } from './save-version.ts';

/**
 * Steps of one patch, to read it and each time that it is applied: it is done in one piece, of some 50 ms at most
 * (docs/decisions/0258).
 */
const patchStepsMax = 500_000;

/** Resources of so many characters take some milliseconds to copy. */
const largeCharacters = 131_072;

export const patch: Interaction = {
  worstCase: {
    because: 'operations × elements × steps of a path (F6)',
    stored: () => [makeLargePatient('siege-large', 1_000)],
    request: () => {
      const criteria = '($this|$this).where('.repeat(8);
      const path = `Patient.name.family.where(${criteria}true${')'.repeat(9)}`;
      const operation = {
        name: 'operation',
        part: [
          { name: 'type', valueCode: 'delete' },
          { name: 'path', valueString: path },
        ],
      };
      const body = { resourceType: 'Parameters', parameter: makeMany(500, () => operation) };
      return buildJsonRequest('PATCH', 'Patient/siege-large', body);
    },
    also: [
      {
        because: 'one element of a large resource, all of which is read, checked and indexed again',
        stored: () => [makeLargeObservation('siege-components', 0)],
        request: ({ next }) => {
          const change = [{ op: 'replace', path: '/code/text', value: `Changed ${next()}` }];
          return buildJsonRequest('PATCH', 'Observation/siege-components', change, 'application/json-patch+json');
        },
      },
    ],
  },
  authorize(context, request) {
    requireWritable(request.type);
    requireGrants(context, request.type, 'u');
  },
  answer,
};

/**
 * 200 with the new version as far as the caller may read it.
 * @throws PraxisError `patch-invalid`, `patch-failed`, `access-denied` (an element that may not be read or written, or rows
 *   that the caller may not update), `resource-invalid`, `invariant-broken`, `resource-not-found`, `precondition-failed`, `conflict`
 */
async function answer(context: InteractionContext, request: FhirRequest): Promise<FhirResponse> {
  requireValidId(request.id);
  const change = readPatch(await request.patch(), context.budget);
  return (
    (await interceptedPatch(context, request, change)) ??
    buildPatchResponse(context, request, await changeResource(context, request, change))
  );
}

async function interceptedPatch(
  context: InteractionContext,
  request: FhirRequest,
  change: Patch,
): Promise<FhirResponse | undefined> {
  const intercept = findHook('intercept', request.type);
  if (intercept === undefined || !(await intercept.isActive(context, request.type))) return undefined;
  const version = await nextVersion(context, request, change);
  return await intercept.answer(context, request, { ...version, write: await writeOf(context, request, version) });
}

export interface ChangeOptions extends SaveOptions {
  /** A change that leaves everything as it was makes no version. */
  readonly keepsUnchanged?: true;
}

/**
 * The current version with `change` applied, after any number of concurrent changes that it fits, as it was stored.
 * @throws PraxisError as `answer`
 */
export async function changeResource(
  context: InteractionContext,
  request: FhirRequest,
  change: Patch,
  options: ChangeOptions = {},
): Promise<StoredResource> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const version = await nextVersion(context, request, change);
    await context.budget.turn(buildingWrite);
    const { current, resource } = version;
    if (options.keepsUnchanged === true && JSON.stringify(resource) === getStoredText(current.content)) return current;
    const write = await writeOf(context, request, version);
    const outcome = await saveVersion(context, write, current, options);
    if (outcome.outcome === 'conflict') continue;
    const { versionId } = outcome;
    return { ...current, versionId, lastUpdatedMs: write.lastUpdatedMs, content: write.content ?? current.content };
  }
  return fail('conflict', { diagnostics: `${request.type}/${request.id} is being changed by others: try again` });
}

/** A resource as a patch makes it. */
interface NextVersion {
  readonly current: StoredResource;
  readonly resource: JsonObject;
  /** The elements that the patch names. */
  readonly touched: readonly (string | undefined)[];
}

/** The current version with `change` applied; nothing is stored. @throws PraxisError as `answer` */
async function nextVersion(context: InteractionContext, request: FhirRequest, change: Patch): Promise<NextVersion> {
  const touched = change.touches.map(({ member }) => member);
  const current = await context.store.read(context.scope, request.type, request.id);
  if (current === undefined) return refuseNotFound(request.type, request.id);
  if (current.deleted) return refuseDeleted(context, current);
  const covered = compileCriterionTest(context, request.type, current.content);
  requireTouchable(context, request, covered, touched);
  const readable = compileReadable(context.policy, request.type, covered);
  requirePatchable(context, request.type, change, readable);
  requireMatch(request.ifMatch, current.versionId);
  requireNoneMatch(request.ifNoneMatch, current.versionId);
  await context.budget.turn(buildingWrite);
  const breathe = () => context.budget.breathe(buildingWrite);
  await parseStoredInSlices(current.content, breathe);
  const patched = applied(context, change, current, readable);
  if (getStoredText(current.content).length >= largeCharacters) await breathe();
  const resource = await requireResourceInSlices(patched, request.type, context.budget);
  if (resource.id !== request.id)
    fail('patch-failed', { diagnostics: 'The patch changes the id, which cannot change', expression: ['id'] });
  return { current, resource, touched };
}

/** @throws PraxisError `access-denied` */
async function writeOf(
  context: InteractionContext,
  { type, id }: FhirRequest,
  { current, resource, touched }: NextVersion,
): Promise<ResourceWrite> {
  const write = await buildWrite(context, 'patch', type, id, resource, current.versionId, current);
  requireBounded(context, write, getStoredText(current.content).length);
  requireTouched(context, write, touched);
  return write;
}

/** By many patches a resource does not become larger than one body could make it. @throws PraxisError `body-too-large` */
function requireBounded({ limits }: InteractionContext, { content }: ResourceWrite, charactersBefore: number): void {
  if (content === null) return;
  const text = getStoredText(content);
  const max = limits.bodyBytesMax;
  if (text.length <= charactersBefore || Buffer.byteLength(text) <= max) return;
  fail('body-too-large', { diagnostics: `The patch makes the resource larger than ${max} bytes, the limit of a body` });
}

/** @throws PraxisError `patch-invalid`, `too-costly` */
function readPatch({ kind, document }: PatchDocument, budget: Budget): Patch {
  return refusing(() =>
    kind === 'json-patch'
      ? readJsonPatch(document)
      : readFhirPathPatch(requireParameters(document, budget), ofPatch(budget)),
  );
}

function requireParameters(document: JsonValue, budget: Budget): JsonObject {
  if (!isJsonObject(document) || document.resourceType !== 'Parameters')
    fail('patch-invalid', { diagnostics: noPatch });
  const [first] = validateResource(document, { type: 'Parameters', budget });
  if (first) fail('patch-invalid', { diagnostics: first.diagnostics, expression: [first.path] });
  return document;
}

const noPatch =
  'The body is no FHIRPath Patch, which is a Parameters resource; a JSON Patch has the Content-Type application/json-patch+json';

/** The patched resource. @throws PraxisError `patch-failed`, `too-costly` */
function applied(
  { budget }: InteractionContext,
  change: Patch,
  current: StoredResource,
  readable: Readable,
): JsonValue {
  const resource = parseStored(current.content);
  const patched = refusing(() => change.apply(resource, ofPatch(budget)));
  if (!isJsonObject(patched)) return patched;
  const safe = withSafeNarrative(resource, patched, readable('text'));
  return readable('contained') ? safe : withoutUnusedContained(safe, current.type);
}

function ofPatch(budget: StepBudget): StepBudget {
  return openAllotment(budget, patchStepsMax, makeTooCostlyError);
}

function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof PatchError)) throw cause;
    return fail(cause.reason === 'malformed' ? 'patch-invalid' : 'patch-failed', { diagnostics: cause.message, cause });
  }
}

/** The answer to a change: the new version as far as the caller may read it, in the form that Prefer asks for. */
export async function buildPatchResponse(
  context: InteractionContext,
  request: FhirRequest,
  row: StoredResource,
): Promise<FhirResponse> {
  const { type, id, content } = row;
  // What breaks its invariants is told to those who may read all of it.
  const isTold = request.prefer.return === 'OperationOutcome' && canReadAll(context.policy, type);
  const breaches = isTold ? await findBreaches(parseStored(content), context.budget) : [];
  return buildReadableResponse(context, request, row, () => buildWrittenOutcome(type, id, breaches));
}
