/**
 * The token service and the authentication of API calls, function level, beside their floor in the same run: reading a form
 * and signing RS256, without a database. The workloads take turns round by round; the best round of each counts.
 * Run: node bench/token.ts [rounds]
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { systemClock } from '../packages/server/src/base/clock.ts';
import type { ApiCredentials } from '../packages/server/src/oauth/session/session.ts';
import type { TokenReply } from '../packages/server/src/oauth/token-endpoint.ts';
import {
  apiCall,
  bodyOf,
  fieldOf,
  formRequest,
  makeAccount,
  makeFirm,
  makeVendor,
  openWorld,
  requestClientToken,
  requestLegacyToken,
} from '../packages/server/test/oauth/world.ts';
import { openTestDatabase } from '../packages/server/test/support/database.ts';

const rounds = Number(process.argv[2] ?? 5);
const roundMs = 700;
const callersAtOnce = 32;

interface Workload {
  readonly name: string;
  readonly call: () => Promise<unknown>;
}

interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of this process, thread pool included; the database's is not in it. */
  readonly cpuMicros: number;
}

const closing: (() => Promise<void>)[] = [];
const { runtime: database } = await openTestDatabase({ after: (work) => void closing.push(work) }, { poolMax: 16 });
const workloads = await prepare();
const best = new Map<string, Figures>();
for (let round = 0; round <= rounds; round++) {
  for (const workload of workloads) {
    const figures = await measure(workload.call);
    // The first round warms up.
    if (round > 0 && figures.perSecond > (best.get(workload.name)?.perSecond ?? 0)) best.set(workload.name, figures);
  }
}
report();
for (const close of closing) await close();

async function prepare(): Promise<Workload[]> {
  const world = { ...(await openWorld(database)), clock: { ...systemClock, advance: () => undefined } };
  const [firm, vendor] = [await makeFirm(world), await makeVendor(world, ['acl/enc_s', 'acl/pat_s'])];
  const account = await makeAccount(world, vendor, firm);
  const environment = await world.environment('sandbox');
  const login = await requestLegacyToken(world, firm, [vendor.legacyKey], account);
  const place = { environment, firmPrefix: firm.prefix };
  const legacy = (form: Record<string, string>): (() => Promise<TokenReply>) => {
    const request = formRequest(form, [vendor.legacyKey]);
    return () => ok(world.endpoints.legacy(place, request));
  };
  const client = { client_id: vendor.clientId, client_secret: vendor.clientSecret };
  const clientRequest = formRequest({ grant_type: 'client_credentials', ...client }, [vendor.clientKey]);
  const clientCall = await apiCall(
    world,
    firm,
    fieldOf(await requestClientToken(world, vendor), 'access_token'),
    vendor.clientKey,
  );
  const legacyCall = await apiCall(world, firm, fieldOf(login, 'access_token'), vendor.legacyKey);
  const cold = (credentials: ApiCredentials) => () => world.sessions.recheck(credentials);
  return [
    { name: 'floor: form + RS256', call: floor(clientRequest.body) },
    { name: 'client credentials', call: () => ok(world.endpoints.client('sandbox', clientRequest)) },
    {
      name: 'legacy refresh',
      call: legacy({ grant_type: 'refresh_token', refresh_token: fieldOf(login, 'refresh_token') }),
    },
    { name: 'legacy password', call: legacy({ grant_type: 'password', ...account }) },
    { name: 'API call, client, cold', call: cold(clientCall) },
    { name: 'API call, legacy, cold', call: cold(legacyCall) },
    { name: 'API call, client, warm', call: () => world.sessions.authenticate(clientCall) },
  ];
}

/** What no token endpoint can do without: read a form, compare, sign. */
function floor(body: Uint8Array): () => Promise<unknown> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const signInThreadPool = promisify(sign);
  const input = Buffer.alloc(560, 'a');
  return async () => {
    const form = new URLSearchParams(Buffer.from(body).toString());
    if (form.get('grant_type') !== 'client_credentials') throw new Error('another grant');
    return JSON.stringify({
      access_token: (await signInThreadPool('sha256', input, privateKey)).toString('base64url'),
    });
  };
}

async function ok(answering: Promise<TokenReply>): Promise<TokenReply> {
  const reply = await answering;
  if (reply.status !== 200) throw new Error(JSON.stringify(bodyOf(reply)));
  return reply;
}

async function measure(call: () => Promise<unknown>): Promise<Figures> {
  const times: number[] = [];
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  const caller = async (): Promise<void> => {
    while (performance.now() - start < roundMs) {
      const before = performance.now();
      await call();
      times.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: callersAtOnce }, caller));
  const elapsedMs = performance.now() - start;
  const cpu = process.cpuUsage(cpuBefore);
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? 0;
  return {
    perSecond: (times.length / elapsedMs) * 1000,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMicros: (cpu.user + cpu.system) / times.length,
  };
}

function report(): void {
  const floorPerSecond = best.get('floor: form + RS256')?.perSecond ?? 0;
  console.log(
    `${'workload'.padEnd(24)} ${'per second'.padStart(11)} ${'of floor'.padStart(9)} ${'p50 ms'.padStart(8)} ${'p99 ms'.padStart(8)} ${'CPU µs'.padStart(8)}`,
  );
  for (const [name, { perSecond, p50Ms, p99Ms, cpuMicros }] of best) {
    const columns = [
      perSecond.toFixed(0).padStart(11),
      (perSecond / floorPerSecond).toFixed(2).padStart(9),
      p50Ms.toFixed(2).padStart(8),
      p99Ms.toFixed(2).padStart(8),
      cpuMicros.toFixed(0).padStart(8),
    ];
    console.log(`${name.padEnd(24)} ${columns.join(' ')}`);
  }
}
