/**
 * Resources that refer to content hold it: the version and the note of that are written together or not at all
 * (docs/decisions/0193, 0194). Content is named by who has uploaded it, and by whoever writes what holds it already.
 */
import type { JsonObject } from '@praxis/fhir';
import { getStoredText, parseStored } from '../../access/disclosure.ts';
import { fail } from '../../base/errors.ts';
import type { ResourceHooks, StoringContext } from '../../engine/hooks.ts';
import { compileCriterionTest } from '../../engine/rights/disclosing.ts';
import { commitUnlessConflict } from '../../resources/write-or-rollback.ts';
import { findObject, findText } from '../../search/json-values.ts';
import { type ResourceWrite, requireType, type WriteOutcome } from '../../storage/store.ts';
import { withContentLinksFor } from './content-links.ts';
import {
  type ContentReference,
  contentIdPattern,
  holdsContent,
  listContentReferences,
  withStoredNames,
} from './content-urls.ts';
import { findContentHolders, holdContents, type KnownContent, lockContents } from './store.ts';

/** Whatever refers to content is stored with a name for it, holds it, and is sent with URLs of it. */
export const contentHooks: ResourceHooks = {
  toStored: withStoredNames,
  wrapStore: (context, write, work) => (namesContent(write) ? attachContent(context, write, work) : work(context)),
  toSent: (context, letter, { type, id, disclosed }) => withContentLinksFor(context, letter, type, id, disclosed),
};

/**
 * Runs `work`, which stores the version, in one transaction with what it holds.
 * @throws PraxisError `rule-broken` (no such content, or not what the attachment says), `duplicate` (a document of the same
 *   patient has the same bytes, and the caller may see it)
 */
async function attachContent(
  context: StoringContext,
  write: ResourceWrite,
  work: (inside: StoringContext) => Promise<WriteOutcome>,
): Promise<WriteOutcome> {
  const { scope, baseUrl } = context;
  return await commitUnlessConflict(context.store, scope, async (store) => {
    const inside = { ...context, store };
    const named = await requireNamed(inside, write);
    if (write.type === 'DocumentReference')
      await requireNoCopies(inside, requireType(write, 'DocumentReference'), named);
    const outcome = await work(inside);
    if (outcome.outcome !== 'conflict')
      await holdContents(store, scope, named.ids, `${write.type}/${write.id}`, patientOf(named.resource, baseUrl));
    return outcome;
  });
}

/**
 * Has the Task of a proposal hold what the version that is proposed names, until somebody has decided. Inside a transaction.
 * @throws PraxisError `rule-broken`
 */
export async function attachProposedContent(
  context: StoringContext,
  write: ResourceWrite,
  task: string,
): Promise<void> {
  if (!namesContent(write)) return;
  const { ids, resource } = await requireNamed(context, write);
  await holdContents(context.store, context.scope, ids, `Task/${task}`, patientOf(resource, context.baseUrl));
}

function namesContent({ content }: ResourceWrite): boolean {
  return content !== null && holdsContent(getStoredText(content));
}

/** What a version names. */
type Named = Awaited<ReturnType<typeof requireNamed>>;

/** @throws PraxisError `rule-broken` */
async function requireNamed(context: StoringContext, write: ResourceWrite) {
  const { store, scope } = context;
  const resource = write.content === null ? {} : parseStored(write.content);
  const references = listContentReferences(resource, write.type);
  const ids = [...new Set(references.map(({ id }) => id))];
  const wellFormed = ids.filter((id) => contentIdPattern.test(id));
  const known = await lockContents(store, scope, wellFormed);
  const knownIds = known.map(({ id }) => id);
  const holders = await findContentHolders(store, scope, knownIds);
  const held = holders.filter(({ holder }) => holder === `${write.type}/${write.id}`).map(({ content }) => content);
  const own = new Set(held); // contents that the resource holds by an earlier version
  for (const reference of references) requireKnown(context, reference, known, own);
  return { resource, references, ids, known, holders, own };
}

/** @throws PraxisError `rule-broken` */
function requireKnown(
  { scope, policy }: StoringContext,
  { id, path, attachment }: ContentReference,
  known: readonly KnownContent[],
  own: ReadonlySet<string>,
): void {
  const content = known.find((each) => each.id === id);
  const mayName = content?.application === scope.application || own.has(id) || policy.unrestricted;
  if (content === undefined || !mayName) {
    return fail('rule-broken', {
      diagnostics: `${path} names no content that this application has uploaded: ask for a URL by POST Binary, PUT the file there, then name that URL here within a day`,
      expression: [path],
    });
  }
  if (attachment === undefined) return;
  const of = path.slice(0, -'.url'.length);
  const { contentType, size, hash } = attachment;
  if (typeof contentType === 'string' && contentType.split(';')[0]?.trim().toLowerCase() !== content.mediaType)
    refuseOther(`${of}.contentType`, `the content is ${content.mediaType}`);
  if (size !== undefined && size !== content.size) refuseOther(`${of}.size`, `the content has ${content.size} bytes`);
  if (typeof hash === 'string' && !isHashOf(hash, content))
    refuseOther(`${of}.hash`, `the SHA-1 of the content is ${content.sha1.toString('base64')} in base64`);
}

/** R4's Attachment.hash is a SHA-1; a SHA-256 is taken, too. https://hl7.org/fhir/R4/datatypes.html#Attachment */
function isHashOf(text: string, { sha1, sha256 }: KnownContent): boolean {
  const hash = Buffer.from(text, 'base64');
  return hash.equals(sha1) || hash.equals(sha256);
}

function refuseOther(path: string, fact: string): never {
  return fail('rule-broken', {
    diagnostics: `${path} is not that of what was uploaded: ${fact}. Correct it, or upload the file again`,
    expression: [path],
  });
}

/** Copies of one document that are looked at. */
const copiesMax = 20;

/**
 * Passes when no other document of the patient that the caller can see has the same bytes as what the document newly holds.
 * Others are not told of; nor are those that were entered in error, or that the new one replaces or otherwise relates to.
 * @throws PraxisError `duplicate`
 */
async function requireNoCopies(
  context: StoringContext,
  write: ResourceWrite<'DocumentReference'>,
  named: Named,
): Promise<void> {
  if (write.content === null) return;
  const { relatesTo = [] } = parseStored(write.content);
  const { resource, references, known, holders, own } = named;
  const patient = patientOf(resource, context.baseUrl);
  const related = JSON.stringify(relatesTo);
  const documents = holders.filter(
    (each) =>
      each.holder.startsWith('DocumentReference/') &&
      each.holder !== `DocumentReference/${write.id}` &&
      each.patient === patient &&
      !related.includes(`${each.holder}"`),
  );
  for (const { id, path } of references.filter((each) => !own.has(each.id))) {
    const content = known.find((each) => each.id === id);
    const copies = documents.filter(({ sha256 }) => content?.sha256.equals(sha256));
    for (const { holder: first } of copies.slice(0, copiesMax)) {
      if (!(await isSeen(context, first))) continue;
      fail('duplicate', {
        diagnostics: `${first} holds the same file for the same subject: use it, or say in relatesTo how this one relates to it`,
        expression: [path],
        alternative: { reference: first, display: 'The document that holds the file' },
      });
    }
  }
}

/** Whether the document is live and valid, and the caller may read or find all of it. @param holder DocumentReference/id */
async function isSeen(context: StoringContext, holder: string): Promise<boolean> {
  const type = 'DocumentReference';
  const row = await context.store.read(context.scope, type, holder.slice(`${type}/`.length));
  if (row === undefined || row.deleted) return false;
  const test = compileCriterionTest(context, type, row.content);
  const whole = (['r', 's'] as const).some((letter) =>
    context.policy.grants(type, letter).some(({ elements, criteria }) => elements === 'all' && criteria.every(test)),
  );
  return whole && parseStored(row.content).status !== 'entered-in-error';
}

/** The reference of its subject as Type/id; undefined: it has none, or elsewhere. */
function patientOf(resource: JsonObject, baseUrl: string): string | undefined {
  if (resource['resourceType'] === 'Patient') return `Patient/${String(resource['id'])}`;
  const [text] = ['subject', 'patient', 'beneficiary', 'for'].flatMap(
    (name) => findText(findObject(resource, name), 'reference') ?? [],
  );
  return text?.startsWith(`${baseUrl}/`) ? text.slice(baseUrl.length + 1) : text;
}
