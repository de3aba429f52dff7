/**
 * Whether nothing was lost and nothing was told that the rights of the moment did not allow. A delivery counts as begun in the second
 * that its `webhook-timestamp` names: rights that were committed before it must hold for it; those that were changed later need not.
 */
import type { Notification, ToldEvent } from './account.ts';
import type { ProofClient } from './client.ts';
import { listHiddenElements, type ProofResource, type Rights, type RightsJournal, seesRow } from './rights.ts';
import type { Subscriber } from './subscriber.ts';
import type { Written } from './writers.ts';

/** A subscriber, and what its application was allowed when. */
export interface JudgedSubscriber extends Subscriber {
  readonly journal: RightsJournal;
}

/** Of one subscriber as much is printed. */
const linesMax = 5;

/** All that does not hold; at the end nothing is under way any more. */
export async function judgeAll(
  subscribers: readonly JudgedSubscriber[],
  written: Written,
  reader: ProofClient,
): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const subscriber of subscribers) {
    const problems = [
      ...subscriber.account.broken,
      ...(await judgeState(subscriber)),
      ...(await judgeTold(subscriber, written, reader)),
    ];
    broken.push(...problems.slice(0, linesMax));
    if (problems.length > linesMax) broken.push(`${subscriber.wish.name}: ${problems.length - linesMax} more`);
  }
  return broken;
}

/** The copy is what a search of the application shows. */
async function judgeState({ account, wish, search }: JudgedSubscriber): Promise<readonly string[]> {
  const [state, found] = [account.computeState(), await search()];
  const problems: string[] = [];
  for (const [name, text] of found) {
    const held = state.get(name);
    if (held === undefined) problems.push(`${wish.name}: ${name} is missing in the copy`);
    else if (held !== text) problems.push(`${wish.name}: the copy holds ${held} and the search shows ${text}`);
  }
  for (const name of state.keys())
    if (!found.has(name)) problems.push(`${wish.name}: the copy holds ${name}, which the search does not show`);
  return problems;
}

async function judgeTold(
  { account, wish, journal }: JudgedSubscriber,
  written: Written,
  reader: ProofClient,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const notification of account.notifications) {
    const allowed = listAllowed(journal, notification);
    for (const event of notification.events) {
      const problem = await findProblem(event, allowed, written, reader);
      if (problem !== undefined) problems.push(`${wish.name}, ${notification.id}: ${problem}`);
    }
  }
  return problems;
}

function listAllowed(journal: RightsJournal, { timestamp }: Notification): readonly Rights[] {
  return journal.listBetween(timestamp * 1000, timestamp * 1000 + 999).filter((rights) => rights !== undefined);
}

/** A version is told to those who see it; its deletion, or that it has left their rows, to those who saw the one before. */
async function findProblem(
  { name, version, method, resource }: ToldEvent,
  allowed: readonly Rights[],
  written: Written,
  reader: ProofClient,
): Promise<string | undefined> {
  const told = method === 'DELETE' ? version - 1 : version;
  const content = await findWritten(name, told, written, reader);
  const what = `${method} of ${name}, version ${version}`;
  if (content === undefined || content === null) return `${what}: nobody has written version ${told}`;
  const fitting = allowed.filter((rights) => seesRow(rights, content));
  if (fitting.length === 0) return `${what}: it lies in ${content.identifier[0]?.value}, which it may not see`;
  if (resource === undefined) return undefined;
  if (Number(resource.meta.versionId) !== version) return `${what} holds version ${resource.meta.versionId}`;
  const [hidden] = fitting
    .map((rights) => listHiddenElements(rights, resource))
    .toSorted((a, b) => a.length - b.length);
  return hidden?.length === 0 ? undefined : `${what} tells ${hidden?.join()}`;
}

/** What a version holds; writes whose answers were lost are asked for. */
async function findWritten(
  name: string,
  version: number,
  written: Written,
  reader: ProofClient,
): Promise<ProofResource | null | undefined> {
  const known = written.get(name)?.get(version);
  if (known !== undefined) return known;
  const { status, body } = await reader.send('GET', `${name}/_history/${version}`);
  const found = status === 200 ? (JSON.parse(body) as ProofResource) : status === 410 ? null : undefined;
  if (found !== undefined) {
    const versions = written.get(name) ?? new Map<number, ProofResource | null>();
    written.set(name, versions.set(version, found));
  }
  return found;
}
