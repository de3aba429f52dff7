/**
 * Two services in which firms are planted in pairs, for the leak hunt: one plot is a firm of each that differ in one secret
 * alone, with everybody who asks there.
 */
import assert from 'node:assert/strict';
import { entryProblem } from '../../../src/admin/entry-problem.ts';
import { issueLegacyAccount } from '../../../src/oauth/legacy/accounts.ts';
import { authorise, setOperatorRows } from '../../../src/tenancy/authorisations.ts';
import type { Lifetime } from '../../support/database.ts';
import { untilTold } from '../../support/follower.ts';
import {
  type Caller,
  callerOf,
  clientToken,
  legacyToken,
  makeApplication,
  makeFirm,
  openTestService,
  type TestApplication,
  type TestFirm,
  type TestService,
} from '../../support/service.ts';
import { type Secret, secrets } from '../worlds.ts';
import { type CallerKind, type CallerName, callerKinds, callerNames, callersAt } from './callers.ts';
import { bodyWithNames, type Names } from './names.ts';
import { contentsOf, isPractice, ownContents, type Planted, type PlotKind } from './planted.ts';
import { finishPractice, preparePractice } from './practice.ts';

/** A firm of one world, and who asks there. */
export interface Plot {
  readonly world: OpenWorld;
  /** Where the callers ask: the FHIR bases of the firm with the secret and of the one beside it. */
  readonly bases: readonly string[];
  readonly callers: ReadonlyMap<CallerName, Caller>;
  /** May see everything, the secret too. */
  readonly entitled: Caller;
  /** What requests may name of it: names.ts. */
  readonly names: Names;
}

export type PlotPair = readonly [Plot, Plot];

export interface OpenWorld {
  readonly secret: Secret;
  readonly service: TestService;
  readonly operator: Application;
  readonly applications: ReadonlyMap<CallerName, Application>;
}

interface Application {
  readonly made: TestApplication;
  readonly token: string;
}

export interface Worlds {
  /** A pair of plots of the kind in which nothing has been changed. */
  plot(kind: PlotKind): Promise<PlotPair>;
  /** Says that something may have changed in the pair: it is not given again. */
  spoil(pair: PlotPair): void;
  /** The same of all pairs. */
  spoilAll(): void;
  /** Moves the clocks of both worlds on. */
  tick(): void;
}

/** Holds and URLs end: after that a pair that was not changed is planted anew, in milliseconds of the worlds' clocks. */
const plotMs = 200_000;
/** Between two requests, so that ids made by the server are in the order of the requests. */
const tickMs = 1;
/** Requests may take long where much else runs: an answer that comes late is the same answer. */
const settings = { PRAXIS_STATEMENT_TIMEOUT_MS: '60000', PRAXIS_CLIENT_TOKEN_SECONDS: '3600' };
const timeZone = 'America/New_York';

/** Opens both services; they end with `lifetime`. */
export async function openWorlds(lifetime: Lifetime): Promise<Worlds> {
  const [first, second] = await Promise.all(secrets.map((secret) => openWorld(lifetime, secret)));
  assert.ok(first !== undefined && second !== undefined);
  const clean = new Map<string, { readonly pair: PlotPair; readonly plantedMs: number }>();
  let planted = 0;
  return {
    async plot(kind) {
      const name = `${kind.group} ${kind.secret}`;
      const known = clean.get(name);
      const nowMs = first.service.clock.now();
      if (known !== undefined && nowMs - known.plantedMs < plotMs) return known.pair;
      planted += 1;
      const pair = await Promise.all([plant(first, kind, planted), plant(second, kind, planted)] as const);
      clean.set(name, { pair, plantedMs: nowMs });
      return pair;
    },
    spoil(pair) {
      for (const [name, known] of clean) if (known.pair === pair) clean.delete(name);
    },
    spoilAll: () => clean.clear(),
    tick() {
      for (const { service } of [first, second]) service.clock.advance(tickMs);
    },
  };
}

async function openWorld(lifetime: Lifetime, secret: Secret): Promise<OpenWorld> {
  const service = await openTestService(lifetime, settings);
  const home = await makeFirm(service, 'home');
  const abroad = await makeFirm(service, 'abroad', 'training');
  const made = async (name: string, acl: readonly string[], firm: TestFirm): Promise<Application> => {
    const application = await makeApplication(service, name, acl, [firm]);
    return { made: application, token: await clientToken(service, application) };
  };
  const applications = new Map<CallerName, Application>();
  for (const name of callerNames) {
    applications.set(name, await made(name, callerKinds[name].acl, name === 'foreign' ? abroad : home));
  }
  return { secret, service, operator: await made('operator', ['acl/*'], home), applications };
}

async function plant(world: OpenWorld, kind: PlotKind, number: number): Promise<Plot> {
  const firm = await makeFirm(world.service, `plot-${number}`, 'sandbox', timeZone);
  const beside = await makeFirm(world.service, `beside-${number}`, 'sandbox', timeZone);
  const entitled = await admit(world, world.operator, firm);
  const { records, later, deleted } = contentsOf(kind, world.secret);
  await fill(entitled, records);
  const callers = new Map<CallerName, Caller>();
  for (const name of callersAt(kind)) callers.set(name, await callerAt(world, name, firm, beside));
  const planting = { world, firm, kind, entitled, callers };
  const prepared: Names = isPractice(kind.group) ? await preparePractice(planting) : new Map();
  await fill(entitled, later, prepared);
  for (const name of deleted) assert.equal((await entitled.send('DELETE', name)).status, 204);
  const names = isPractice(kind.group) ? await finishPractice(planting, prepared) : prepared;
  if (kind.secret === 'value') await useKey(entitled, world.secret);
  if (kind.group === 'elsewhere') await fill(await admit(world, world.operator, beside), ownContents().records);
  if (kind.secret === 'definition') await world.service.service.jobs.settle();
  await untilTold(world.service.database.owner);
  return { world, bases: [firm.base, beside.base], callers, entitled, names };
}

async function callerAt(world: OpenWorld, name: CallerName, firm: TestFirm, beside: TestFirm): Promise<Caller> {
  const application = world.applications.get(name);
  assert.ok(application !== undefined);
  const { authorised } = callerKinds[name];
  if (authorised === 'none') return callerOf(firm, application.token, application.made.clientKey);
  return await admit(world, application, authorised === 'own' ? beside : firm, callerKinds[name]);
}

/** Lets an application act at a firm, and gives the caller. */
async function admit(
  { service }: OpenWorld,
  { made, token }: Application,
  firm: TestFirm,
  { flow, rows = {}, authorisedAcl }: Pick<CallerKind, 'flow' | 'rows' | 'authorisedAcl'> = { flow: 'client' },
): Promise<Caller> {
  const { database, clock, secrets: keys } = service.platform;
  const terms = { purpose: 'Hunt', ...(authorisedAcl === undefined ? {} : { acl: authorisedAcl }) };
  await authorise(database, clock, firm, made.application, terms, entryProblem);
  if (Object.keys(rows).length > 0) await setOperatorRows(database, firm, made.application, rows);
  if (flow === 'client') return callerOf(firm, token, made.clientKey);
  const account = await issueLegacyAccount(database, keys, firm, made.application);
  return callerOf(
    firm,
    await legacyToken({ ...made, accounts: new Map([[firm.prefix, account]]) }, firm),
    made.legacyKey,
  );
}

/** A request of those who may see the secret, with a key that nobody else should learn of. */
async function useKey(caller: Caller, secret: Secret): Promise<void> {
  const made = await caller.send('PUT', 'Basic/keyed', keyedRecord, { 'idempotency-key': `"${secret}"` });
  assert.equal(made.status, 201, made.text);
}

const keyedRecord = { resourceType: 'Basic', id: 'keyed', code: { text: 'keyed' } };

/** In one transaction; search parameters before what they find, since those that are there are not indexed anew. */
async function fill(caller: Caller, records: readonly Planted[], names: Names = new Map()): Promise<void> {
  if (records.length === 0) return;
  const entry = records.map((resource) => ({
    resource: bodyWithNames(resource, names),
    request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
  }));
  const answer = await caller.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
  assert.equal(answer.status, 200, answer.text);
}
