/**
 * What applications are told later, in two worlds that differ in one secret: events of their subscriptions, how these stand, and files
 * of exports. Changes of what they may not see are made between those that they may, so a notification, a number or a count would
 * tell of them.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setOperatorRows } from '../../../src/tenancy/authorisations.ts';
import type { Lifetime } from '../../support/database.ts';
import { untilTold } from '../../support/follower.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  type TestService,
} from '../../support/service.ts';
import { type Secret, secrets } from '../worlds.ts';
import { type Seen, steady } from './compare.ts';
import type { Told } from './telling-guards.ts';

/** A service with an endpoint, at which what comes is noted by its path. */
interface TellingWorld {
  readonly secret: Secret;
  readonly service: TestService;
  readonly endpoint: string;
  readonly received: Map<string, Answer[]>;
}

export type TellingWorlds = readonly [TellingWorld, TellingWorld];

interface Asked {
  readonly criteria: string;
  readonly filter?: string;
  readonly content: 'empty' | 'id-only' | 'full-resource';
}

interface TellingCaller {
  readonly acl: readonly string[];
  readonly rows?: Readonly<Record<string, object>>;
  readonly subscriptions: readonly Asked[];
  /** What it asks at the end. */
  readonly paths: readonly string[];
}

const topic = (name: string): string => `https://praxis.health/fhir/SubscriptionTopic/${name}`;
const guide = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition';
const own = ['acl/sbscr_r', 'acl/sbscr_s', 'acl/sbscr_c', 'acl/sbscr_u'];
const full = { content: 'full-resource' } as const;

/** Those who may see everything: that the worlds differ shows in what they are told. */
const entitled: TellingCaller = {
  acl: ['acl/*'],
  subscriptions: [
    { criteria: topic('patient-changed'), ...full },
    { criteria: 'Patient?birthdate=1980-01-01', content: 'empty' },
    { criteria: topic('appointment-booked'), content: 'id-only' },
  ],
  paths: ['$export?_type=Patient', '$export?_type=Patient&_since=2026-01-01'],
};

const tellingCallers: Readonly<Record<Told, TellingCaller>> = {
  masked: {
    acl: [...own, 'acl/pat_s_name'],
    subscriptions: [
      { criteria: topic('patient-changed'), ...full },
      { criteria: topic('patient-changed'), content: 'id-only' },
      { criteria: topic('patient-changed'), filter: 'Patient?_id=seen', content: 'empty' },
      { criteria: topic('patient-changed'), filter: 'Patient?active=true', content: 'id-only' },
      { criteria: topic('patient-linked'), content: 'id-only' },
      { criteria: 'Patient?name=Stone', ...full },
      { criteria: 'Patient?birthdate=1980-01-01', content: 'empty' },
    ],
    paths: [
      '$export?_type=Patient',
      '$export?_type=Patient&_since=2026-01-01',
      '$export?_type=Patient&_typeFilter=Patient%3Fname%3DStone',
      '$export?_type=Patient&_typeFilter=Patient%3Fbirthdate%3D1980-01-01',
    ],
  },
  rows: {
    acl: [...own, 'system/Patient.rs?gender=female'],
    subscriptions: [
      { criteria: topic('patient-changed'), ...full },
      { criteria: topic('patient-changed'), filter: 'Patient?active=true', content: 'empty' },
      { criteria: topic('patient-linked'), content: 'id-only' },
      { criteria: 'Patient', ...full },
      { criteria: 'Patient?name=Stone', content: 'empty' },
    ],
    paths: [
      '$export?_type=Patient',
      '$export?_type=Patient&_since=2026-01-01',
      '$export?_type=Patient&_typeFilter=Patient%3Fname%3DStone',
      'Patient/$export',
    ],
  },
  times: {
    acl: [...own, 'acl/appmt_s'],
    rows: { appmt: { elements: ['start'] } },
    subscriptions: [
      { criteria: topic('appointment-changed'), content: 'id-only' },
      { criteria: topic('appointment-changed'), ...full },
      { criteria: topic('appointment-booked'), content: 'id-only' },
      { criteria: topic('appointment-cancelled'), content: 'empty' },
      { criteria: 'Appointment?status=booked', content: 'empty' },
    ],
    paths: ['$export?_type=Appointment'],
  },
  // May see all but the subscriptions of others, of which there is one in one world.
  others: {
    acl: ['acl/*'],
    subscriptions: [],
    paths: ['Subscription', 'Subscription?_total=accurate', 'Subscription/$status'],
  },
};

/** Opens both services; they end with `lifetime`. */
export async function openTellingWorlds(lifetime: Lifetime): Promise<TellingWorlds> {
  const [one, other] = await Promise.all(secrets.map((secret) => openWorld(lifetime, secret)));
  assert.ok(one !== undefined && other !== undefined);
  return [one, other];
}

async function openWorld(lifetime: Lifetime, secret: Secret): Promise<TellingWorld> {
  // Hunts run beside this: there are 100 connections for all.
  const settings = { PRAXIS_OUTBOUND_LOOPBACK: 'sandbox', PRAXIS_DATABASE_POOL: '6' };
  const service = await openTestService(lifetime, settings);
  const received = new Map<string, Answer[]>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    response.writeHead(204).end();
    const [, hook = '', rest = ''] = /^(\/hook\/[a-z]+\/\d+)(.*)$/.exec(request.url ?? '') ?? [];
    const headers = new Headers();
    for (const name of ['webhook-id', 'content-type', 'content-length']) {
      const value = request.headers[name];
      if (typeof value === 'string') headers.set(name, value);
    }
    const text = `${request.method} ${rest}\n${Buffer.concat(parts).toString()}`;
    received.set(hook, [...(received.get(hook) ?? []), { status: 204, headers, text, json: undefined }]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  lifetime.after(async () => {
    server.close();
    server.closeAllConnections();
  });
  return { secret, service, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

let scenes = 0;

/**
 * What is told differently in the worlds to one of those who may not see the secret; undefined: nothing is. Each call has a firm of its
 * own. @throws AssertionError where those who may see it are told the same, so that nothing could be found
 */
export async function findTelling(worlds: TellingWorlds, by: readonly Told[]): Promise<string | undefined> {
  scenes += 1;
  const [one, other] = await Promise.all(worlds.map((world) => tell(world, `telling-${scenes}`, by)));
  assert.ok(one !== undefined && other !== undefined);
  assert.notDeepEqual(one.get('entitled'), other.get('entitled'), 'those who may see the secret are told the same');
  for (const name of by) {
    const [left = [], right = []] = [one.get(name), other.get(name)];
    const at = left.findIndex((each, place) => each !== right[place]);
    if (at >= 0 || left.length !== right.length) return `${name}: ${left[at]} and ${right[at]}`;
  }
  return undefined;
}

/** All that each caller is told, in a text that is the same where nothing tells of the secret. */
async function tell(world: TellingWorld, prefix: string, by: readonly Told[]): Promise<Map<string, readonly string[]>> {
  const { service, secret, received } = world;
  received.clear();
  const firm = await makeFirm(service, prefix);
  const open = async (name: string, { acl, rows }: TellingCaller): Promise<Caller> => {
    const application = await makeApplication(service, `${name} ${prefix}`, acl, [firm]);
    if (rows !== undefined) await setOperatorRows(service.platform.database, firm, application.application, rows);
    return await openCaller(service, application, firm);
  };
  const writing = await open('writing', entitled);
  const present: [string, TellingCaller, Caller][] = [];
  for (const [name, caller] of [
    ['entitled', entitled] as const,
    ...by.map((each) => [each, tellingCallers[each]] as const),
  ])
    present.push([name, caller, await open(name, caller)]);
  const steps = [...listSteps(secret), ...(by.includes('masked') ? [] : listHiddenSteps(secret))];
  for (const step of steps.slice(0, 2)) await write(world, writing, step);
  const answers = new Map<string, readonly Answer[]>();
  for (const [name, { subscriptions }, caller] of present) {
    const made: Answer[] = [];
    // Of the entitled there are subscriptions of its own in one world, and of others none.
    for (const [at, asked] of subscriptions.entries())
      made.push(
        await caller.send('POST', 'Subscription', buildSubscription(asked, `${world.endpoint}/hook/${name}/${at}`)),
      );
    answers.set(name, made);
  }
  if (secret === 'alpha')
    await writing.send(
      'POST',
      'Subscription',
      buildSubscription({ criteria: 'Patient', content: 'empty' }, `${world.endpoint}/hook/writing/0`),
    );
  await settle(service);
  for (const step of steps.slice(2)) await write(world, writing, step);
  const told = new Map<string, readonly string[]>();
  for (const [name, { subscriptions, paths }, caller] of present) {
    const seen: Seen = new Map();
    const text = (answer: Answer): string => {
      const same = answer.text
        .replaceAll(world.endpoint, 'http://endpoint')
        .replaceAll(/whsec_[\w+/=]+/g, 'secret')
        .replaceAll(/(subscription-owner","valueCode":")\d+/g, '$1owner'); // the numbers of applications have gaps
      return JSON.stringify(steady(service.origin, seen, { ...answer, text: same }));
    };
    const made = answers.get(name) ?? [];
    const deliveries = subscriptions.flatMap((_, at) => received.get(`/hook/${name}/${at}`) ?? []);
    const later = [...(await askOfOwn(caller, made)), ...(await askAll(caller, paths))];
    told.set(name, [...made, ...deliveries, ...later].map(text));
  }
  return told;
}

interface WriteStep {
  readonly name: string;
  /** Undefined: a deletion. */
  readonly body: object | undefined;
}

/** What is written, in order; what those who may not see the secret may see of it is the same in both worlds. */
function listSteps(secret: Secret): readonly WriteStep[] {
  const isAlpha = secret === 'alpha';
  const patientStep = (id: string, body: object): WriteStep => ({
    name: `Patient/${id}`,
    body: { resourceType: 'Patient', id, ...body },
  });
  const link = [{ other: { reference: `Patient/${secret}` }, type: 'seealso' }];
  const seen = (family: string, change: number) =>
    patientStep('seen', {
      name: [{ family }],
      gender: 'female',
      active: true,
      // Of those who see all elements of women, nothing of them differs.
      multipleBirthInteger: change,
    });
  const masked = (family: string) =>
    patientStep('masked', {
      name: [{ family }],
      gender: 'male',
      birthDate: isAlpha ? '1980-01-01' : '1990-01-01',
      active: isAlpha,
      link,
    });
  const appointment = (status: string): WriteStep => ({
    name: 'Appointment/time',
    body: {
      resourceType: 'Appointment',
      id: 'time',
      status,
      start: '2026-12-01T09:00:00Z',
      end: '2026-12-01T09:30:00Z',
      participant: [{ actor: { reference: 'Patient/seen' }, status: 'accepted' }],
    },
  });
  return [
    seen('Stone', 1),
    masked('Stone'),
    seen('Stone', 2),
    masked('Rock'),
    patientStep('moving', { name: [{ family: 'Moving' }], gender: 'male', address: [{ city: secret }] }),
    patientStep('moving', { name: [{ family: 'Moving' }], gender: 'female' }),
    patientStep('moving', { name: [{ family: 'Moving' }], gender: 'male', address: [{ city: secret }] }),
    appointment(isAlpha ? 'booked' : 'proposed'),
    masked('Stone'),
    { name: 'Patient/masked', body: undefined },
    // Still there when an export looks.
    patientStep('dated', {
      name: [{ family: 'Stone' }],
      gender: 'male',
      birthDate: isAlpha ? '1980-01-01' : '1990-01-01',
    }),
    seen('Stone', 3),
  ];
}

/** What is there in one world alone: a man, whom those who see some elements of all would see. */
function listHiddenSteps(secret: Secret): readonly WriteStep[] {
  if (secret !== 'alpha') return [];
  const body = { resourceType: 'Patient', id: 'only', name: [{ family: 'Stone' }], gender: 'male', active: true };
  const name = 'Patient/only';
  const link = [{ other: { reference: 'Patient/seen' }, type: 'seealso' }];
  return [
    { name, body },
    { name, body: { ...body, link } },
    { name, body: undefined },
    { name, body },
  ];
}

async function write({ service }: TellingWorld, caller: Caller, { name, body }: WriteStep): Promise<void> {
  const answer = body === undefined ? await caller.send('DELETE', name) : await caller.send('PUT', name, body);
  assert.ok(answer.status < 300, `${name}: ${answer.text}`);
  await settle(service);
}

async function settle(service: TestService): Promise<void> {
  await untilTold(service.database.owner);
  await service.service.jobs.settle();
}

function buildSubscription({ criteria, filter, content }: Asked, endpoint: string) {
  const filterExtension = { url: `${guide}/backport-filter-criteria`, valueString: filter };
  return {
    resourceType: 'Subscription',
    status: 'requested',
    reason: 'Telling',
    criteria,
    ...(filter === undefined ? {} : { _criteria: { extension: [filterExtension] } }),
    channel: {
      type: 'rest-hook',
      endpoint,
      ...(content === 'empty' ? {} : { payload: 'application/fhir+json' }),
      _payload: { extension: [{ url: `${guide}/backport-payload-content`, valueCode: content }] },
    },
  };
}

/** How its subscriptions stand, and their events again. */
async function askOfOwn(caller: Caller, made: readonly Answer[]): Promise<readonly Answer[]> {
  const ids = made.flatMap(({ status, json }) => (status === 201 ? [String(json.id)] : []));
  const answers: Answer[] = [];
  for (const id of ids)
    for (const path of ['', '/$status', '/$events', '/$events?content=full-resource&eventsSinceNumber=1'])
      answers.push(await caller.get(`Subscription/${id}${path}`));
  return answers;
}

/** The answers; of an export also its manifest and its files. */
async function askAll(caller: Caller, paths: readonly string[]): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const path of paths) {
    const begun = await caller.get(path, path.includes('$export') ? { prefer: 'respond-async' } : {});
    answers.push(begun);
    if (begun.status !== 202) continue;
    let manifest = await caller.get(begun.headers.get('content-location') ?? '');
    while (manifest.status === 202) manifest = await caller.get(begun.headers.get('content-location') ?? '');
    answers.push(manifest);
    const files: readonly { readonly url: string }[] = [
      ...(manifest.json?.output ?? []),
      ...(manifest.json?.deleted ?? []),
    ];
    for (const { url } of files) answers.push(await caller.get(url));
  }
  return answers;
}
