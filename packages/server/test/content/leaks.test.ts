/**
 * Who has a URL of content has no more than it says: other firms, other applications, restricted tokens and altered URLs
 * open nothing and learn nothing, and what was open closes with the rights that it was opened under.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { revokeApiKey } from '../../src/oauth/client-auth/api-keys.ts';
import { addBrownOut, setSunset } from '../../src/oauth/legacy/sunset-administration.ts';
import { suspendApplication } from '../../src/tenancy/applications.ts';
import { authorise, revokeAuthorisation } from '../../src/tenancy/authorisations.ts';
import { getEnvironment } from '../../src/tenancy/environments.ts';
import { suspendFirm } from '../../src/tenancy/firms.ts';
import { assertRefused } from '../support/refusals.ts';
import {
  type Answer,
  answerOf,
  callerOf,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  type TestApplication,
  type TestFirm,
} from '../support/service.ts';
import {
  askForUrl,
  documentOf,
  linkOf,
  openWorld,
  pdf,
  putFile,
  storedDocument,
  uploadEntries,
  uploaded,
} from './world.ts';

const world = await openWorld({ after });
const { caller, maple, cedar, clock } = world;
const { database } = world.platform;
const secret = Buffer.concat([pdf, Buffer.from('the secret of this file')]);
const document = await storedDocument(caller, secret);
const neighbour = await openCaller(world, world.scanner, cedar);
const pdfType = { 'content-type': 'application/pdf' };

async function fetched(url: string, init: RequestInit = {}): Promise<Answer> {
  return await answerOf(await fetch(url, init));
}

test('an altered, moved or guessed URL opens nothing, and one answer serves for all', async () => {
  const link = await linkOf(caller, document);
  const url = new URL(link);
  const sealed = url.searchParams.get('link') ?? '';
  const other = await uploaded(caller, pdf);
  const flipped = Buffer.from(sealed, 'base64url');
  const wrong = [
    `${url.origin}${url.pathname}`,
    `${url.origin}${url.pathname}?link=`,
    `${url.origin}${url.pathname}?link=${'A'.repeat(sealed.length)}`,
    link.replace('/maple/', '/cedar/'),
    link.replace('/sandbox/', '/training/'),
    link.replace(url.pathname.split('/').at(-1) ?? '', other.id),
    ...Array.from({ length: 40 }, (_, at) => {
      const altered = Buffer.from(flipped);
      const place = Math.floor((at * altered.length) / 40);
      altered[place] = (altered[place] ?? 0) ^ 1;
      return `${url.origin}${url.pathname}?link=${altered.toString('base64url')}`;
    }),
  ];
  const bodies = new Set<string>();
  for (const each of wrong) {
    for (const headers of [{}, caller.headers]) {
      const answer = await fetched(each, { headers });
      assert.equal(answer.status, 404, each);
      bodies.add(answer.text);
    }
  }
  assert.equal(bodies.size, 1);
  assert.equal((await fetched(link)).status, 200);
});

test('content of another firm and of another application is content that does not exist', async () => {
  const mine = await uploaded(caller, Buffer.concat([pdf, Buffer.from('mine')]));
  const held = (await linkOf(caller, document)).split('?')[0] ?? '';
  const rival = await makeApplication(world, 'Rival', uploadEntries, [maple, cedar]);
  const unknown = mine.attachment.replace(/[0-9a-f-]{36}$/, '00000000-0000-4000-8000-000000000000');
  const of = async (who: typeof caller, named: string): Promise<string> => {
    const answer = await who.send('POST', 'DocumentReference', documentOf(named));
    assert.equal(answer.status, 422);
    return answer.text;
  };
  for (const who of [await openCaller(world, rival, maple), neighbour]) {
    const expected = await of(who, `urn:praxis:content:${unknown.slice(-36)}`);
    for (const named of [mine.attachment, held])
      assert.equal(await of(who, `urn:praxis:content:${named.slice(-36)}`), expected);
  }
});

test('an offer to one application is used up by it alone, and rivals neither use nor hold what came by it', async () => {
  const { url, attachment } = await askForUrl(caller, 'application/pdf');
  assert.equal((await putFile(url.replace('/maple/', '/cedar/'), pdf, pdfType)).status, 404);
  assert.equal((await putFile(url, pdf, pdfType)).status, 200);
  assert.equal((await neighbour.send('POST', 'DocumentReference', documentOf(attachment))).status, 201);
  const foreign = await neighbour.get('DocumentReference?patient=stone');
  const link = (await neighbour.get(`DocumentReference/${foreign.json.entry[0].resource.id}`)).json.content[0]
    .attachment.url;
  assert.equal(link, attachment); // to this firm it is a URL like any other: kept as sent, opened by nothing
  assert.equal((await fetched(link)).status, 404);
});

test('restricted tokens learn nothing of content', async () => {
  const entries = [['acl/pat_s_name_dob_gen'], ['acl/enc_s'], ['acl/doc_ref_s'], ['acl/doc_ref_c'], ['acl/bnry_c_url']];
  for (const acl of entries) {
    const who = await openCaller(world, await makeApplication(world, `Only ${acl}`, acl, [maple]), maple);
    const asked = [
      await who.get(`DocumentReference/${document}`),
      await who.get('DocumentReference?patient=stone'),
      await who.get(`DocumentReference/${document}/_history`),
      await who.get('Patient?_revinclude=DocumentReference:patient'),
      await who.get('Binary/00000000-0000-4000-8000-000000000000'),
      await who.send('PATCH', `DocumentReference/${document}`, [], { 'content-type': 'application/json-patch+json' }),
    ];
    for (const answer of asked) assert.ok(!/\/content\/|urn:praxis:content/.test(answer.text), `${acl} ${answer.text}`);
    if (acl[0] !== 'acl/bnry_c_url')
      assert.equal((await who.send('POST', 'Binary', { resourceType: 'Binary' })).status, 403);
  }
});

test('whoever cannot see the first document is not told that a file was there before', async () => {
  const acl = ['acl/bnry_c_url', 'acl/doc_ref_c'];
  const blind = await openCaller(world, await makeApplication(world, 'Blind', acl, [maple]), maple);
  const answers: number[] = [];
  for (const bytes of [secret, Buffer.concat([pdf, Buffer.from('never seen')])]) {
    const { attachment } = await uploaded(blind, bytes);
    answers.push((await blind.send('POST', 'DocumentReference', documentOf(attachment))).status);
  }
  assert.deepEqual(answers, [201, 201]);
});

test('URLs end at once with the rights that they were made under', async () => {
  const ends: Readonly<Record<string, (firm: TestFirm, vendor: TestApplication) => Promise<unknown>>> = {
    'authorisation revoked': (firm, { application }) => revokeAuthorisation(database, firm, application),
    'fewer entries authorised': (firm, { application }) =>
      authorise(database, clock, firm, application, { acl: ['acl/doc_ref_c'], purpose: 'Test' }, entryProblem),
    'application suspended': (_firm, { application }) => suspendApplication(database, application),
    'firm suspended': (firm) => suspendFirm(database, firm),
    'key revoked': (_firm, { application, clientKeyId }) => revokeApiKey(database, application, clientKeyId),
  };
  let made = 0;
  for (const [name, end] of Object.entries(ends)) {
    made += 1;
    const firm = await makeFirm(world, `end-${made}`);
    const vendor = await makeApplication(world, name, uploadEntries, [firm]);
    const who = await openCaller(world, vendor, firm);
    const id = await storedDocument(who, pdf);
    const [link, offered] = [await linkOf(who, id), await askForUrl(who, 'application/pdf')];
    assert.equal((await fetched(link)).status, 200);
    await end(firm, vendor);
    const what = 'The rights that this URL was made under have changed: ';
    const ended = { status: 410, error: 'link-ended', issue: 'expired' };
    assertRefused(await fetched(link), { ...ended, diagnostics: `${what}read the resource again to get another` });
    const put = await putFile(offered.url, pdf, pdfType);
    assertRefused(put, { ...ended, diagnostics: `${what}ask for another by POST Binary` });
  }
});

interface PlannedEnd {
  readonly name: string;
  readonly flow: 'client' | 'legacy';
  /** Plans the end for the moment. */
  readonly plan: (firm: TestFirm, vendor: TestApplication, atMs: number) => Promise<unknown>;
}

const plannedEnds: readonly PlannedEnd[] = [
  ...(['client', 'legacy'] as const).map((flow) => ({
    name: `the authorisation, by the ${flow} flow`,
    flow,
    plan: (firm: TestFirm, { application }: TestApplication, expiresAtMs: number) =>
      authorise(database, clock, firm, application, { purpose: 'Test', expiresAtMs }, entryProblem),
  })),
  {
    name: 'a brown-out of the legacy flow',
    flow: 'legacy',
    plan: async (firm, { application }, startsAtMs) =>
      addBrownOut(
        database,
        clock,
        { environment: await getEnvironment(database, firm.environment), firm, application },
        { startsAtMs, endsAtMs: startsAtMs + 120_000 },
      ),
  },
  {
    name: 'the end of the legacy flow',
    flow: 'legacy',
    plan: async (firm, { application }, sunsetAtMs) =>
      setSunset(
        database,
        { environment: await getEnvironment(database, firm.environment), firm, application },
        { deprecatedAtMs: clock.now(), sunsetAtMs, link: 'https://example.com/migrate' },
      ),
  },
];

for (const [index, { name, flow, plan }] of plannedEnds.entries()) {
  test(`URLs do not outlive a planned end: ${name}`, async () => {
    const firm = await makeFirm(world, `planned-${index}`);
    const vendor = await makeApplication(world, name, uploadEntries, [firm]);
    const open = async () =>
      flow === 'client'
        ? await openCaller(world, vendor, firm)
        : callerOf(firm, await legacyToken(vendor, firm), vendor.legacyKey);
    const before = await open();
    const document = await storedDocument(before, pdf);
    const earlier = [await linkOf(before, document), (await askForUrl(before, 'application/pdf')).url] as const;
    const endsMs = clock.now() + 60_000;
    await plan(firm, vendor, endsMs);
    const rights = 'The rights that this URL was made under have changed';
    await assertEnded(earlier, rights); // a plan changes the rights

    const who = await open();
    const [link, spare, used] = [
      await linkOf(who, document),
      await askForUrl(who, 'application/pdf'),
      await askForUrl(who, 'application/pdf'),
    ];
    assert.equal(spare.expires, new Date(endsMs).toISOString());
    clock.advance(59_000);
    assert.equal((await fetched(link)).status, 200);
    assert.equal((await putFile(used.url, pdf, pdfType)).status, 200);
    clock.advance(1_000);
    await assertEnded([link, spare.url], 'This URL has expired');
    assert.equal((await before.get('DocumentReference')).status >= 400, true);
    clock.advance(120_000);
    await assertEnded([link, spare.url], 'This URL has expired'); // also after the brown-out
  });
}

async function assertEnded([download, upload]: readonly [string, string], what: string): Promise<void> {
  const ended = { status: 410, error: 'link-ended', issue: 'expired' };
  const next = ['read the resource again to get another', 'ask for another by POST Binary'];
  assertRefused(await fetched(download), { ...ended, diagnostics: `${what}: ${next[0]}` });
  assertRefused(await putFile(upload, pdf, pdfType), { ...ended, diagnostics: `${what}: ${next[1]}` });
}

test('URLs are good for as long as they say after their token has expired', async () => {
  const firm = await makeFirm(world, 'short-token');
  const vendor = await makeApplication(world, 'Short token', uploadEntries, [firm]);
  const first = callerOf(firm, await legacyToken(vendor, firm), vendor.legacyKey);
  const document = await storedDocument(first, pdf);
  clock.advance((world.platform.config.legacyTokenSeconds - 10) * 1000);
  const [link, offered] = [await linkOf(first, document), await askForUrl(first, 'application/pdf')];
  assert.equal(offered.expires, new Date(clock.now() + 300_000).toISOString());
  clock.advance(10_000);
  assert.equal((await first.get('DocumentReference')).status, 401);
  assert.equal((await fetched(link)).status, 200);
  assert.equal((await putFile(offered.url, pdf, pdfType)).status, 200);
});
