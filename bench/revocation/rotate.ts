/**
 * Rotation under load: secret, API key and signing key of a client are changed, step by step, while tokens are issued and
 * used at two nodes without pause.
 *
 * The steps that would wait for an hour, until every token of the old signing key has expired, are forced: here the clients
 * themselves have taken new tokens by then, and what they hold is all that there is.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { decodeJwt } from '../../packages/server/src/oauth/signing/jwt.ts';
import { signerRememberedMs } from '../../packages/server/src/oauth/signing/signing-keys.ts';
import { patient } from '../../packages/server/test/support/records.ts';
import {
  callerOf,
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  postForm,
  type TestApplication,
  type TestFirm,
} from '../../packages/server/test/support/service.ts';
import { openPacedLoad, type PacedLoad } from './paced-load.ts';
import type { LoadResult, Nodes } from './world.ts';

/** Between two steps at least. */
const stepMs = 1_000;
/** Between two token requests of a node's client. */
const tokenMs = 100;

/** A client, which has its token from one node and uses it at both. */
interface Client {
  headers: Readonly<Record<string, string>>;
}

interface World {
  readonly nodes: Nodes;
  readonly firm: TestFirm;
  /** What the vendor has deployed now. */
  deployed: TestApplication;
  readonly clients: readonly [Client, Client];
  readonly wrong: string[];
  /** Signing keys of the tokens that were issued. */
  readonly kids: Set<string>;
  /** Tokens that each client has taken. */
  readonly tokens: [number, number];
  isStopped: boolean;
}

export async function rotateUnderLoad(nodes: Nodes, perSecond: number, rotations: number): Promise<LoadResult> {
  const world = await openWorld(nodes);
  const issuing = ([0, 1] as const).map((node) => issue(world, node));
  const path = `${new URL(world.firm.base).pathname}/Patient/one`;
  let count = 0;
  const load = openPacedLoad(nodes.origins, perSecond, () => {
    const number = count++;
    const { headers } = world.clients[(number >> 1) % 2 === 0 ? 0 : 1];
    return { node: number % 2, path, headers, about: 'read' };
  });
  try {
    for (let rotation = 0; rotation < rotations; rotation += 1) await rotate(world, load);
  } finally {
    await load.stop();
    world.isStopped = true;
    await Promise.all(issuing);
  }
  const failed = load.answers.filter(({ status }) => status !== 200).map(({ status }) => `a read: ${status}`);
  return {
    name: `${rotations} rotations`,
    answers: load.answers,
    wrong: [...world.wrong, ...failed],
    notes: [`${world.tokens[0] + world.tokens[1]} tokens were issued meanwhile, signed with ${world.kids.size} keys`],
  };
}

async function openWorld(nodes: Nodes): Promise<World> {
  const { first } = nodes;
  const firm = await makeFirm(first, 'rotating');
  const deployed = await makeApplication(first, 'Rotating', ['acl/*'], [firm]);
  const nobody = { headers: {} };
  const world: World = {
    nodes,
    firm,
    deployed,
    clients: [{ ...nobody }, { ...nobody }],
    wrong: [],
    kids: new Set(),
    tokens: [0, 0],
    isStopped: false,
  };
  await Promise.all([takeToken(world, 0), takeToken(world, 1)]);
  const caller = callerOf(firm, tokenOf(world.clients[0]), deployed.clientKey);
  const made = await caller.send('PUT', 'Patient/one', { ...patient('Stone'), id: 'one' });
  if (made.status !== 201) throw new Error(made.text);
  return world;
}

async function issue(world: World, node: 0 | 1): Promise<void> {
  while (!world.isStopped) {
    await takeToken(world, node);
    await delay(tokenMs);
  }
}

/** The client of the node takes a new token with what is deployed. */
async function takeToken(world: World, node: 0 | 1): Promise<void> {
  const { deployed, nodes, firm, clients } = world;
  const origin = nodes.origins[node];
  const answer = await postForm(clientTokenUrl({ ...nodes.first, origin }), clientForm(deployed), deployed.clientKey);
  if (answer.status !== 200) {
    world.wrong.push(`a token request: ${answer.status} ${answer.text}`);
    return;
  }
  const token: string = answer.json.access_token;
  world.tokens[node] += 1;
  world.kids.add(decodeJwt(token)?.header.kid ?? '');
  clients[node].headers = callerOf(firm, token, deployed.clientKey).headers;
}

function tokenOf({ headers }: Client): string {
  return (headers['authorization'] ?? '').replace('Bearer ', '');
}

/** All that can be rotated, once. */
async function rotate(world: World, load: PacedLoad): Promise<void> {
  await rotateSecret(world, load);
  await rotateKey(world, load);
  await rotateSigningKey(world, load);
}

/** Until nothing is under way with what was deployed before: what an operator sees by the dates of last use. */
async function step(world: World, load: PacedLoad): Promise<void> {
  await delay(stepMs);
  const [one, other] = world.tokens;
  // The next token of each may have been asked for before.
  while (world.tokens[0] < one + 2 || world.tokens[1] < other + 2) await delay(tokenMs);
  await load.settled();
}

async function rotateSecret(world: World, load: PacedLoad): Promise<void> {
  const secrets = `${applicationPath(world)}/clients/${world.deployed.clientId}/secrets`;
  const old: readonly { readonly id: number; readonly state: string }[] = (await asked(world, 'GET', secrets)).items;
  const { clientSecret } = await asked(world, 'POST', secrets);
  await step(world, load);
  world.deployed = { ...world.deployed, clientSecret };
  await step(world, load);
  for (const { id, state } of old) if (state === 'active') await asked(world, 'POST', `${secrets}/${id}/retire`, {});
  await step(world, load);
}

async function rotateKey(world: World, load: PacedLoad): Promise<void> {
  const keys = `${applicationPath(world)}/keys`;
  const { apiKey, id } = await asked(world, 'POST', keys, { flow: 'client', label: 'next' });
  await step(world, load);
  const old = world.deployed.clientKeyId;
  world.deployed = { ...world.deployed, clientKey: apiKey, clientKeyId: id };
  await step(world, load);
  await asked(world, 'POST', `${keys}/${old}/revoke`);
  await step(world, load);
}

async function rotateSigningKey(world: World, load: PacedLoad): Promise<void> {
  const path = '/realms/sandbox/signing-keys';
  const old = decodeJwt(tokenOf(world.clients[0]))?.header.kid ?? '';
  await asked(world, 'POST', path);
  await step(world, load);
  await asked(world, 'POST', `${path}/activate`, { force: true });
  // Until both nodes sign with it, and both clients have a token that it has signed.
  await delay(signerRememberedMs);
  await step(world, load);
  await asked(world, 'POST', `${path}/${old}/retire`, { force: true });
  await step(world, load);
}

function applicationPath({ deployed }: World): string {
  return `/environments/sandbox/applications/${encodeURIComponent(deployed.application.name)}`;
}

/** What the administration answers. */
async function asked({ nodes, wrong }: World, method: string, path: string, body?: object) {
  const { status, text, json } = await nodes.operator.ask(method, path, body);
  if (status >= 400) wrong.push(`${method} ${path}: ${status} ${text}`);
  return json;
}
