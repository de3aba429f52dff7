/** contract 4 and RFC 6749 §5.2: what both token endpoints refuse before any grant, and how they answer our own faults. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { oauthErrorTable } from '../../src/oauth/errors.ts';
import {
  buildRefusalReply,
  openTokenEndpoints,
  type TokenReply,
  type TokenRequest,
} from '../../src/oauth/token-endpoint.ts';
import { openTestDatabase } from '../support/database.ts';
import { assertRefused, bodyOf, counting, formRequest, makeFirm, makeVendor, openWorld } from './world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
const firm = await makeFirm(world);
const vendor = await makeVendor(world);
const environment = await world.environment('sandbox');
const place = { environment, firmPrefix: firm.prefix };

const endpoints = {
  legacy: (request: TokenRequest): Promise<TokenReply> => world.endpoints.legacy(place, request),
  client: (request: TokenRequest): Promise<TokenReply> => world.endpoints.client('sandbox', request),
} as const;
const offered = { legacy: 'password or refresh_token', client: 'client_credentials' } as const;
const grantTypes = {
  legacy: ['client_credentials', 'authorization_code', 'Password', 'urn:x'],
  client: ['password', 'refresh_token', 'authorization_code', 'CLIENT_CREDENTIALS'],
} as const;

for (const endpoint of ['legacy', 'client'] as const) {
  const apiKey = [endpoint === 'legacy' ? vendor.legacyKey : vendor.clientKey];

  for (const grantType of grantTypes[endpoint]) {
    test(`contract 4: the ${endpoint} endpoint refuses grant_type ${grantType} as unsupported_grant_type`, async () => {
      const reply = await endpoints[endpoint](formRequest({ grant_type: grantType }, apiKey));
      assertRefused(
        reply,
        400,
        'unsupported_grant_type',
        `grant_type must be ${offered[endpoint]} at this endpoint`,
        endpoint,
      );
      assert.equal(reply.record.grantType, undefined);
    });
  }

  const malformed: readonly (readonly [name: string, change: Partial<TokenRequest>, description: string])[] = [
    ['no body', { body: Buffer.alloc(0) }, 'grant_type is missing or empty'],
    ['no grant_type', { body: Buffer.from('username=a&password=b') }, 'grant_type is missing or empty'],
    ['an empty grant_type', { body: Buffer.from('grant_type=') }, 'grant_type is missing or empty'],
    [
      'grant_type twice',
      { body: Buffer.from('grant_type=password&grant_type=password') },
      'grant_type is sent more than once',
    ],
    [
      'JSON',
      { contentType: ['application/json'], body: Buffer.from('{"grant_type":"password"}') },
      'Content-Type must be application/x-www-form-urlencoded',
    ],
    ['no Content-Type', { contentType: [] }, 'Content-Type must be application/x-www-form-urlencoded'],
  ];
  for (const [name, change, description] of malformed) {
    test(`contract 4: the ${endpoint} endpoint refuses ${name} as invalid_request`, async () => {
      const reply = await endpoints[endpoint]({ ...formRequest({}, apiKey), ...change });
      assertRefused(reply, 400, 'invalid_request', description, endpoint);
    });
  }
}

test('contract 4.3: the client endpoint refuses a parameter that is sent twice, whichever', async () => {
  for (const name of ['client_id', 'client_secret', 'scope', 'unknown']) {
    const request = {
      ...formRequest({}, [vendor.clientKey]),
      body: Buffer.from(`grant_type=client_credentials&${name}=a&${name}=a`),
    };
    assertRefused(await endpoints.client(request), 400, 'invalid_request', `${name} is sent more than once`, 'client');
  }
});

test('RFC 6749 §3.2: unknown parameters are ignored', async () => {
  const form = {
    grant_type: 'client_credentials',
    client_id: vendor.clientId,
    client_secret: vendor.clientSecret,
    audience: 'x',
  };
  assert.equal((await endpoints.client(formRequest(form, [vendor.clientKey]))).status, 200);
});

test('RFC 6749 §5.2: error descriptions hold only the characters that it allows', () => {
  for (const code of ['invalid_request', 'server_error'] as const) {
    const reply = buildRefusalReply(code, 'a "quoted" back\\slash, ümlaut and\nline');
    assert.equal(bodyOf(reply)['error_description'], "a 'quoted' back?slash, ?mlaut and?line");
    assert.equal(reply.status, oauthErrorTable[code].status);
  }
});

for (const [name, thrown, status, body, retryAfter] of [
  [
    'the database cannot be reached',
    new PraxisError('unavailable', { diagnostics: 'secret detail' }),
    503,
    { error: 'temporarily_unavailable', error_description: 'The service cannot answer now: try again' },
    '1',
  ],
  [
    'anything else fails',
    new TypeError('secret detail'),
    500,
    { error: 'server_error', error_description: 'An unexpected fault: the request id finds it in the log' },
    undefined,
  ],
] as const) {
  test(`when ${name}, the answer is ${status} without detail, and the fault is handed over for the log`, async () => {
    const failing = openTokenEndpoints({
      ...world.service,
      database: { ...database, query: () => Promise.reject(thrown) },
    });
    const reply = await failing.legacy(
      place,
      formRequest({ grant_type: 'password', username: 'a', password: 'b' }, ['k']),
    );
    assert.deepEqual(
      { status: reply.status, body: bodyOf(reply), fault: reply.fault },
      { status, body, fault: thrown },
    );
    assert.equal(reply.headers['retry-after'], retryAfter);
    assert.equal(reply.headers['cache-control'], 'no-store');
  });
}

test('a warm token request is one round trip to the database, whichever grant', async () => {
  const counted = counting(database);
  const own = openTokenEndpoints({ ...world.service, database: counted.database });
  const requests: readonly (readonly [string, () => Promise<TokenReply>])[] = [
    [
      'password',
      () =>
        own.legacy(place, formRequest({ grant_type: 'password', username: 'a', password: 'b' }, [vendor.legacyKey])),
    ],
    [
      'refresh_token',
      () => own.legacy(place, formRequest({ grant_type: 'refresh_token', refresh_token: 'x' }, [vendor.legacyKey])),
    ],
    [
      'client_credentials',
      () =>
        own.client(
          'sandbox',
          formRequest(
            { grant_type: 'client_credentials', client_id: vendor.clientId, client_secret: vendor.clientSecret },
            [vendor.clientKey],
          ),
        ),
    ],
  ];
  for (const [name, send] of requests) {
    await send();
    counted.statements = 0;
    await send();
    assert.equal(counted.statements, 1, name);
  }
});
