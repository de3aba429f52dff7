/**
 * The world of the decision table: three environments in two realms, firms in every relation to an application, and the
 * tokens, keys and places of the table, each with the facts that the oracle judges by.
 */
import type { JsonWebKey } from 'node:crypto';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { issueApiKey, revokeApiKey } from '../../src/oauth/client-auth/api-keys.ts';
import { issueClient, revokeClient } from '../../src/oauth/client-auth/clients.ts';
import { issueLegacyAccount, revokeLegacyAccount } from '../../src/oauth/legacy/accounts.ts';
import { suspendApplication } from '../../src/tenancy/applications.ts';
import { authorise, revokeAuthorisation } from '../../src/tenancy/authorisations.ts';
import { createProduct } from '../../src/tenancy/environments.ts';
import { suspendFirm } from '../../src/tenancy/firms.ts';
import {
  clientForm,
  clientToken,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  passwordForm,
  postForm,
  type TestApplication,
  type TestFirm,
  type TestService,
} from '../support/service.ts';
import { resourceOf, storedId, types } from './asked.ts';
import * as forged from './forged-tokens.ts';
import type { KeyFacts, PlaceFacts, TokenDefect, TokenFacts } from './oracle.ts';

/** A state of the table: how it is sent, and what is true of it. */
export interface TokenState {
  readonly name: string;
  readonly authorization?: string | readonly string[];
  /** Query string that carries a token. */
  readonly query?: string;
  readonly facts: TokenFacts;
}

export interface KeyState {
  readonly name: string;
  readonly apiKey?: string | readonly string[];
  readonly facts: KeyFacts;
}

export interface Place {
  readonly name: string;
  readonly path: (product: string) => string;
  /** Set where the place is about the product. */
  readonly product?: string;
  readonly facts: PlaceFacts;
}

export interface World {
  readonly tokens: readonly TokenState[];
  readonly keys: readonly KeyState[];
  readonly places: readonly Place[];
}

/** Products of the sandbox; which one is asked changes no answer. */
export const products = ['pm', 'ehr'] as const;

const secondProduct = products[1];
const acl = ['acl/*'];

export async function openWorld(service: TestService): Promise<World> {
  const { database, clock } = service.platform;
  for (const environment of ['sandbox', 'training', 'prod']) await createProduct(database, environment, secondProduct);
  const firms = await makeFirms(service);
  const { maple, birch, elm, oak, ash, cedar, trainingMaple, prodMaple } = firms;
  const main = await makeApplication(service, 'Main', acl, [maple, birch, elm, oak]);
  const other = await makeApplication(service, 'Other', acl, [maple, cedar]);
  const training = await makeApplication(service, 'Main', acl, [trainingMaple]);
  const prod = await makeApplication(service, 'Main', acl, [prodMaple]);
  await authorise(
    database,
    clock,
    ash,
    main.application,
    { purpose: 'Test', expiresAtMs: clock.now() + 60_000 },
    entryProblem,
  );
  await revokeAuthorisation(database, elm, main.application);
  await suspendFirm(database, oak);

  for (const [application, firm, realm] of [
    [main, maple, 'sandbox'],
    [main, birch, 'sandbox'],
    [training, trainingMaple, 'sandbox'],
    [prod, prodMaple, 'production'],
  ] as const) {
    await seed(service, application, firm, realm);
  }
  return {
    tokens: await makeTokens(service, { main, training, prod }, maple, birch),
    keys: await makeKeys(service, { main, other, training, prod }),
    places: makePlaces(firms, { main, other, training, prod }),
  };
}

type Firms = Awaited<ReturnType<typeof makeFirms>>;
type Applications<Name extends string> = Readonly<Record<Name, TestApplication>>;

async function makeFirms(service: TestService) {
  return {
    maple: await makeFirm(service, 'maple'),
    birch: await makeFirm(service, 'birch'),
    cedar: await makeFirm(service, 'cedar'),
    elm: await makeFirm(service, 'elm'),
    oak: await makeFirm(service, 'oak'),
    ash: await makeFirm(service, 'ash'),
    trainingMaple: await makeFirm(service, 'maple', 'training'),
    prodMaple: await makeFirm(service, 'maple', 'prod'),
  };
}

/** The same ids at every firm. */
async function seed(service: TestService, application: TestApplication, firm: TestFirm, realm: string): Promise<void> {
  const caller = await openCaller(service, application, firm, realm);
  for (const type of types.filter((type) => type !== 'Patience')) {
    const { status, text } = await caller.send('PUT', `${type}/${storedId}`, resourceOf(type, storedId, firm.prefix));
    if (status !== 201) throw new Error(`${type} was not seeded: ${status} ${text}`);
  }
}

async function makeTokens(
  service: TestService,
  { main, training, prod }: Applications<'main' | 'training' | 'prod'>,
  maple: TestFirm,
  birch: TestFirm,
): Promise<TokenState[]> {
  const ofClient: TokenFacts = {
    flow: 'client',
    environment: 'sandbox',
    realm: 'sandbox',
    application: idOf(main),
    holder: 'active',
  };
  const ofAccount: TokenFacts = { ...ofClient, flow: 'legacy', firm: 'maple' };
  const bad = (facts: TokenFacts, defect: TokenDefect): TokenFacts => ({ ...facts, defect });

  const expiredClient = await clientToken(service, main);
  const expiredLegacy = await legacyToken(main, maple);
  service.clock.advance(3 * 3_600_000);

  const client = await clientToken(service, main);
  const legacy = await legacyToken(main, maple);
  const jwk = await publicKey(service);
  const bearer = (name: string, token: string, facts: TokenFacts): TokenState => ({
    name,
    authorization: `Bearer ${token}`,
    facts,
  });
  return [
    { name: 'none', facts: bad(ofClient, 'absent') },
    { name: 'empty header', authorization: '', facts: bad(ofClient, 'absent') },
    { name: 'Basic credentials', authorization: `Basic ${btoa('user:password')}`, facts: bad(ofClient, 'absent') },
    { name: 'Bearer without a token', authorization: 'Bearer', facts: bad(ofClient, 'malformed') },
    { name: 'Bearer with two words', authorization: `Bearer ${client} ${client}`, facts: bad(ofClient, 'malformed') },
    {
      name: 'header sent twice',
      authorization: [`Bearer ${client}`, `Bearer ${client}`],
      facts: bad(ofClient, 'sent-twice'),
    },
    { name: 'token in the query', query: `access_token=${client}`, facts: bad(ofClient, 'in-query') },
    { ...bearer('token in header and query', client, bad(ofClient, 'in-query')), query: `access_token=${client}` },
    bearer('garbage', 'garbage', bad(ofClient, 'malformed')),
    bearer('garbage of the shape of a JWT', 'aaaa.bbbb.cccc', bad(ofClient, 'malformed')),
    bearer('expired client token', expiredClient, bad(ofClient, 'expired')),
    bearer('expired legacy token', expiredLegacy, bad(ofAccount, 'expired')),
    bearer(
      'client token with a tampered payload',
      forged.withClaims(client, { scope: 'acl/*', exp: 9_999_999_999 }),
      bad(ofClient, 'wrong-signature'),
    ),
    bearer(
      'legacy token with a tampered payload',
      forged.withClaims(legacy, { urlPrefix: 'cedar' }),
      bad(ofAccount, 'wrong-signature'),
    ),
    bearer(
      'client token with a tampered signature',
      forged.withFlippedSignature(client),
      bad(ofClient, 'wrong-signature'),
    ),
    bearer(
      'legacy token with a tampered signature',
      forged.withFlippedSignature(legacy),
      bad(ofAccount, 'wrong-signature'),
    ),
    bearer('alg none without a signature', forged.unsigned(client), bad(ofClient, 'malformed')),
    bearer('alg none with a signature', forged.withAlgorithm(client, 'none'), bad(ofClient, 'unknown-algorithm')),
    bearer('another algorithm', forged.withAlgorithm(client, 'RS512'), bad(ofClient, 'unknown-algorithm')),
    bearer('client token that claims HS256', forged.withAlgorithm(client, 'HS256'), bad(ofClient, 'wrong-signature')),
    bearer('legacy token that claims RS256', forged.withAlgorithm(legacy, 'RS256'), bad(ofAccount, 'unknown-key')),
    bearer(
      'HS256 with the public key as secret',
      forged.signedWithPublicKey(client, jwk),
      bad(ofClient, 'wrong-signature'),
    ),
    bearer('key of the attacker under our kid', forged.signedByAttacker(client), bad(ofClient, 'wrong-signature')),
    bearer(
      'key of the attacker under an unknown kid',
      forged.signedByAttacker(client, 'k'.repeat(43)),
      bad(ofClient, 'unknown-key'),
    ),
    bearer('token of the other realm', await clientToken(service, prod, 'production'), {
      ...ofClient,
      environment: 'prod',
      realm: 'production',
      application: idOf(prod),
    }),
    bearer('token of another environment of the realm', await clientToken(service, training), {
      ...ofClient,
      environment: 'training',
      application: idOf(training),
    }),
    bearer('keyless token', await keylessToken(service, main), bad(ofClient, 'keyless')),
    bearer('refresh token', await refreshToken(main, maple), bad(ofAccount, 'refresh-token')),
    bearer('token of a revoked client', await tokenOfRevokedClient(service, main), { ...ofClient, holder: 'revoked' }),
    bearer('token of a revoked account', await tokenOfRevokedAccount(service, main, maple), {
      ...ofAccount,
      holder: 'revoked',
    }),
    await tokenOfSuspendedApplication(service, maple, ofClient),
    bearer('legacy', legacy, ofAccount),
    bearer('legacy, of another firm', await legacyToken(main, birch), { ...ofAccount, firm: 'birch' }),
    bearer('client', client, ofClient),
  ];
}

function idOf({ application }: TestApplication): string {
  return `${application.environment}/${application.name}`;
}

async function publicKey({ origin }: TestService): Promise<JsonWebKey> {
  const response = await fetch(`${origin}/auth/realms/sandbox/protocol/openid-connect/certs`);
  const { keys } = (await response.json()) as { keys: readonly JsonWebKey[] };
  return keys[0] ?? {};
}

async function keylessToken(service: TestService, application: TestApplication): Promise<string> {
  return (await postForm(clientTokenUrl(service), clientForm(application))).json.access_token;
}

async function refreshToken(application: TestApplication, firm: TestFirm): Promise<string> {
  const { json } = await postForm(firm.legacyTokenUrl, passwordForm(application, firm), application.legacyKey);
  return json.refresh_token;
}

async function tokenOfRevokedClient(service: TestService, of: TestApplication): Promise<string> {
  const { database, secrets } = service.platform;
  const client = await issueClient(database, secrets, of.application);
  const token = await clientToken(service, { ...of, ...client });
  await revokeClient(database, of.application, client.clientId);
  return token;
}

async function tokenOfRevokedAccount(service: TestService, of: TestApplication, firm: TestFirm): Promise<string> {
  const { database, secrets } = service.platform;
  const account = await issueLegacyAccount(database, secrets, firm, of.application);
  const token = await legacyToken({ ...of, accounts: new Map([[firm.prefix, account]]) }, firm);
  await revokeLegacyAccount(database, firm, account.username);
  return token;
}

async function tokenOfSuspendedApplication(
  service: TestService,
  firm: TestFirm,
  facts: TokenFacts,
): Promise<TokenState> {
  const suspended = await makeApplication(service, 'Suspended', acl, [firm]);
  const token = await clientToken(service, suspended);
  await suspendApplication(service.platform.database, suspended.application);
  return {
    name: 'token of a suspended application',
    authorization: `Bearer ${token}`,
    facts: { ...facts, application: idOf(suspended), holder: 'suspended' },
  };
}

async function makeKeys(
  { platform }: TestService,
  { main, other, training, prod }: Applications<'main' | 'other' | 'training' | 'prod'>,
): Promise<KeyState[]> {
  const { database, secrets } = platform;
  const facts: KeyFacts = {
    sent: 'once',
    state: 'active',
    flow: 'client',
    environment: 'sandbox',
    application: idOf(main),
  };
  const legacy: KeyFacts = { ...facts, flow: 'legacy' };
  const revoked = async (flow: 'legacy' | 'client'): Promise<string> => {
    const { id, apiKey } = await issueApiKey(database, secrets, main.application, flow, 'revoked');
    await revokeApiKey(database, main.application, id);
    return apiKey;
  };
  return [
    { name: 'none', facts: { ...facts, sent: 'absent' } },
    { name: 'empty', apiKey: '', facts: { ...facts, sent: 'empty' } },
    { name: 'repeated', apiKey: [main.clientKey, main.clientKey], facts: { ...facts, sent: 'repeated' } },
    {
      name: 'repeated, of both flows',
      apiKey: [main.legacyKey, main.clientKey],
      facts: { ...facts, sent: 'repeated' },
    },
    { name: 'wrong', apiKey: 'A'.repeat(43), facts: { ...facts, state: 'unknown' } },
    {
      name: 'two keys in one header',
      apiKey: `${main.clientKey}, ${main.legacyKey}`,
      facts: { ...facts, state: 'unknown' },
    },
    { name: 'legacy', apiKey: main.legacyKey, facts: legacy },
    { name: 'client', apiKey: main.clientKey, facts },
    { name: 'legacy, of another application', apiKey: other.legacyKey, facts: { ...legacy, application: idOf(other) } },
    { name: 'client, of another application', apiKey: other.clientKey, facts: { ...facts, application: idOf(other) } },
    { name: 'legacy, revoked', apiKey: await revoked('legacy'), facts: { ...legacy, state: 'revoked' } },
    { name: 'client, revoked', apiKey: await revoked('client'), facts: { ...facts, state: 'revoked' } },
    {
      name: 'client, of another environment',
      apiKey: training.clientKey,
      facts: { ...facts, environment: 'training', application: idOf(training) },
    },
    {
      name: 'legacy, of the other realm',
      apiKey: prod.legacyKey,
      facts: { ...legacy, environment: 'prod', application: idOf(prod) },
    },
    {
      name: 'client, of the other realm',
      apiKey: prod.clientKey,
      facts: { ...facts, environment: 'prod', application: idOf(prod) },
    },
  ];
}

function makePlaces(firms: Firms, applications: Applications<'main' | 'other' | 'training' | 'prod'>): Place[] {
  const main = idOf(applications.main);
  const other = idOf(applications.other);
  const place = (
    name: string,
    prefix: string,
    open: readonly string[],
    more: { environment?: string; realm?: string | undefined; product?: string } = {},
  ): Place => {
    const environment = more.environment ?? 'sandbox';
    const realm = 'realm' in more ? more.realm : 'sandbox';
    return {
      name,
      path: (product) => `/${environment}/firm/${prefix}/${more.product ?? product}/fhir/v2`,
      ...(more.product === undefined ? {} : { product: more.product }),
      facts: { environment, realm, firm: prefix, open },
    };
  };
  return [
    place('own firm', firms.maple.prefix, [main, other]),
    place('own firm, second', firms.birch.prefix, [main]),
    place('other firm', firms.cedar.prefix, [other]),
    place('unknown firm', 'nowhere', []),
    place('firm that has revoked its authorisation', firms.elm.prefix, []),
    place('firm that is suspended', firms.oak.prefix, []),
    place('firm whose authorisation has ended', firms.ash.prefix, []),
    place('other environment of the realm', firms.trainingMaple.prefix, [idOf(applications.training)], {
      environment: 'training',
    }),
    place('other environment, other realm', firms.prodMaple.prefix, [idOf(applications.prod)], {
      environment: 'prod',
      realm: 'production',
    }),
    place('other product', firms.maple.prefix, [main, other], { product: secondProduct }),
    place('unknown product', firms.maple.prefix, [main, other], { product: 'nowhere', realm: undefined }),
    place('unknown environment', firms.maple.prefix, [], { environment: 'nowhere', realm: undefined }),
  ];
}
