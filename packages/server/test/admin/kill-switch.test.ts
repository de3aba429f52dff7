/**
 * The kill switch: while two nodes are under load, something is revoked through the administration API of one of them, and
 * no request that begins after the answer succeeds at either. `KILL_SWITCH_ROUNDS=50 npm test -- kill-switch` revokes 50
 * times; the kinds take turns.
 */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { makeSecret } from '../../src/base/ids.ts';
import { startNode } from '../support/nodes.ts';
import {
  clientForm,
  clientTokenUrl,
  openTestService,
  passwordForm,
  postForm,
  type TestFirm,
} from '../support/service.ts';
import { clientRefused, type Flow, kinds, openScene, patientId, type Scene } from './kill-switch-scenes.ts';
import { ask, openAdministrator } from './world.ts';

const rounds = Number(process.env['KILL_SWITCH_ROUNDS'] ?? '10');
/** Requests under way at once, over both nodes. */
const workersCount = 16;
/** Requests of each flow at each node before the revocation, and that begin after its answer. */
const requestsMin = 25;

const secretKey = makeSecret();
const service = await openTestService({ after }, { PRAXIS_SECRET_KEY: secretKey });
const nodes = await Promise.all([1, 2].map(() => startNode(service.database, secretKey)));
/** The first node, which has the clock of the machine; the test service lends its platform. */
const first = { ...service, origin: nodes[0]?.origin ?? '' };
const operator = await openAdministrator(first, 'operator', 'operator');
const agent = new Agent({ keepAlive: true, maxSockets: workersCount });
after(async () => {
  agent.destroy();
  await Promise.all(nodes.map((node) => node.stop()));
});

/** The status of a read at a node. */
function read(origin: string, firm: TestFirm, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const path = `${new URL(firm.base).pathname}/Patient/${patientId}`;
    const sent = request(`${origin}${path}`, { agent, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end();
  });
}

/** A token request at a node, with the credentials that were revoked. */
async function tokenAt(origin: string, flow: Flow, { firm, vendor }: Scene): Promise<readonly [number, string]> {
  const answer =
    flow === 'client'
      ? await postForm(clientTokenUrl({ ...first, origin }), clientForm(vendor), vendor.clientKey)
      : await postForm(origin + new URL(firm.legacyTokenUrl).pathname, passwordForm(vendor, firm), vendor.legacyKey);
  return [answer.status, answer.json.error];
}

interface Seen {
  readonly node: number;
  readonly flow: Flow;
  readonly beganAt: number;
  readonly status: number;
}

/** Load on both nodes until `stop`. */
function load(scene: Scene, flows: readonly Flow[]) {
  const seen: Seen[] = [];
  let isRunning = true;
  const work = async (worker: number): Promise<void> => {
    const flow = flows[(worker >> 1) % flows.length] ?? 'client';
    const node = worker % nodes.length;
    const origin = nodes[node]?.origin ?? '';
    while (isRunning) {
      const beganAt = performance.now();
      seen.push({ node, flow, beganAt, status: await read(origin, scene.firm, scene.headers[flow]) });
    }
  };
  const workers = Array.from({ length: workersCount }, (_, worker) => work(worker));
  return {
    /** Resolves when each flow at each node has enough requests that began after `time`. */
    async enoughSince(time: number): Promise<void> {
      while (countsSince(seen, flows, time).some((count) => count < requestsMin)) await delay(5);
    },
    /** What was answered. */
    async stop(): Promise<readonly Seen[]> {
      isRunning = false;
      await Promise.all(workers);
      return seen;
    },
  };
}

function countsSince(seen: readonly Seen[], flows: readonly Flow[], time: number): readonly number[] {
  return [...nodes.keys()].flatMap((node) =>
    flows.map((flow) => seen.filter((each) => each.node === node && each.flow === flow && each.beganAt > time).length),
  );
}

let requests = 0;
let loadMs = 0;

for (const [index, kind] of kinds.entries()) {
  const own = Array.from({ length: rounds }, (_, round) => round).filter((round) => round % kinds.length === index);
  test(`kill switch: ${kind.name}: nothing that begins after the answer succeeds, ${own.length} times`, async (t) => {
    for (const round of own) {
      const scene = await openScene(first, round);
      const path = await kind.path(scene, service.platform.database);
      const began = performance.now();
      const running = load(scene, kind.flows);
      await running.enoughSince(began);
      const answer = await ask(nodes[round % 2] ?? first, operator.token, 'POST', path, kind.body);
      const answeredAt = performance.now();
      assert.equal(answer.status, 204, answer.text);
      await running.enoughSince(answeredAt);
      const seen = await running.stop();
      requests += seen.length;
      loadMs += performance.now() - began;
      assert.ok(seen.some(({ status }) => status === 200));
      const late = seen.filter(({ beganAt }) => beganAt > answeredAt);
      assert.deepEqual([...new Set(late.map(({ status }) => status))], [kind.status]);
      for (const { origin } of kind.token === undefined ? [] : nodes) {
        const { flow, status, error } = kind.token ?? clientRefused;
        assert.deepEqual(await tokenAt(origin, flow, scene), [status, error]);
      }
      const others = seen.filter(({ status }) => status !== 200 && status !== kind.status);
      assert.deepEqual(others, [], 'nothing fails otherwise');
    }
    t.diagnostic(`${Math.round((requests * 1000) / loadMs)} requests/s so far`);
  });
}
