/**
 * The kill switch under load: something is revoked at one of two nodes, again and again, while both are asked without pause.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { kinds, openScene, patientId, type Scene } from '../../packages/server/test/admin/kill-switch-scenes.ts';
import { ask } from '../../packages/server/test/admin/world.ts';
import { openPacedLoad, type PacedAnswer, type PacedRequest } from './paced-load.ts';
import type { LoadResult, Nodes } from './world.ts';

/** Load on a scene before its revocation and after the answer to it, in ms. */
const beforeMs = 400;
const afterMs = 400;

interface Round {
  readonly scene: Scene;
  readonly kind: (typeof kinds)[number];
  readonly path: string;
}

/** When the revocation of a round was asked for, and when it was answered. */
interface Moment {
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** Revokes so many times; the kinds take turns, and so do the nodes that are asked to. */
export async function revokeUnderLoad(nodes: Nodes, perSecond: number, revocations: number): Promise<LoadResult> {
  const rounds = await openRounds(nodes, revocations);
  let at = 0;
  let count = 0;
  const load = openPacedLoad(nodes.origins, perSecond, () => requestOf(rounds[at], at, count++));
  const moments: Moment[] = [];
  const wrong: string[] = [];
  for (; at < rounds.length; at += 1) {
    const { path, kind } = rounds[at] ?? fail();
    await delay(beforeMs);
    const askedAt = performance.now();
    const origin = nodes.origins[at % 2] ?? '';
    const { status, text } = await ask({ origin }, nodes.operator.token, 'POST', path, kind.body);
    moments.push({ askedAt, answeredAt: performance.now() });
    if (status !== 204) wrong.push(`${kind.name}: the revocation was answered with ${status} ${text}`);
    await delay(afterMs);
    if (at === rounds.length - 1) break;
  }
  await load.stop();
  const judged = load.answers.map((answer) => judge(answer, rounds, moments));
  const late = load.answers.filter(({ about, sentAt }) => sentAt > (moments[Number(about)]?.answeredAt ?? 0));
  const took = moments.map(({ askedAt, answeredAt }) => answeredAt - askedAt).sort((one, other) => one - other);
  return {
    name: `${revocations} revocations`,
    answers: load.answers,
    wrong: [...wrong, ...judged.flatMap((problem) => problem ?? [])],
    notes: [
      `${late.length} reads began after the answer to the revocation that concerns them`,
      `revocations took p50 ${took[took.length >> 1]?.toFixed(1)} ms, longest ${took.at(-1)?.toFixed(1)} ms`,
    ],
  };
}

async function openRounds(nodes: Nodes, revocations: number): Promise<readonly Round[]> {
  const rounds: Round[] = [];
  for (let number = 0; number < revocations; number += 1) {
    const scene = await openScene(nodes.first, number);
    const kind = kinds[number % kinds.length] ?? fail();
    rounds.push({ scene, kind, path: await kind.path(scene, nodes.first.platform.database) });
  }
  return rounds;
}

/** The nodes take turns, and at each of them the flows that the revocation concerns. */
function requestOf(round: Round | undefined, number: number, count: number): PacedRequest {
  const { scene, kind } = round ?? fail();
  const flow = kind.flows[(count >> 1) % kind.flows.length] ?? 'client';
  const path = `${new URL(scene.firm.base).pathname}/Patient/${patientId}`;
  return { node: count % 2, path, headers: scene.headers[flow], about: String(number) };
}

/** Before the revocation is asked for a read succeeds, after its answer it is refused, between them either may be. */
function judge(
  { about, sentAt, answeredAt, status, node }: PacedAnswer,
  rounds: readonly Round[],
  moments: readonly Moment[],
): string | undefined {
  const { kind } = rounds[Number(about)] ?? fail();
  const moment = moments[Number(about)] ?? fail();
  const isLate = sentAt > moment.answeredAt;
  const isEarly = answeredAt < moment.askedAt;
  const expected = isLate ? [kind.status] : isEarly ? [200] : [200, kind.status];
  if (expected.includes(status)) return undefined;
  const since = (sentAt - moment.answeredAt).toFixed(1);
  return `${kind.name}: status ${status} at node ${node}, sent ${since} ms after the answer`;
}

function fail(): never {
  throw new RangeError('there is no such round');
}
