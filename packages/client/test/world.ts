/** A running service with a practice, and what an application needs to connect to it. */
import { setTimeout as delay } from 'node:timers/promises';
import { type ClientCredentials, type Clock, connect, type PasswordCredentials, type Praxis } from '@praxis/client';
import type { Lifetime } from '../../server/test/support/database.ts';
import {
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  type TestApplication,
  type TestFirm,
  type TestService,
} from '../../server/test/support/service.ts';

/** Client credentials with a secret. */
export type SecretCredentials = Extract<ClientCredentials, { readonly clientSecret: string }>;

export interface World {
  readonly service: TestService;
  readonly maple: TestFirm;
  readonly application: TestApplication;
  /** Calls the service without the client. */
  readonly caller: Caller;
  readonly credentials: SecretCredentials;
  /** The service's time. Waits are short, whatever is asked for. */
  readonly clock: Clock;
  readonly praxis: Praxis;
}

/** A service with the practice `maple` and an application with `acl` there. */
export async function openWorld(
  t: Lifetime,
  { acl = ['acl/*'], settings = {} }: { acl?: readonly string[]; settings?: Readonly<Record<string, string>> } = {},
): Promise<World> {
  const service = await openTestService(t, settings);
  const maple = await makeFirm(service, 'maple');
  const application = await makeApplication(service, 'Vendor', acl, [maple]);
  const owner = await makeApplication(service, 'Owner', ['acl/*'], [maple]);
  const credentials = clientCredentialsOf(application);
  const clock: Clock = {
    now: () => service.clock.now(),
    sleep: (_ms, signal) => delay(20, undefined, signal && { signal }),
  };
  return {
    service,
    maple,
    application,
    caller: await openCaller(service, owner, maple),
    credentials,
    clock,
    praxis: connect({ base: maple.base, credentials, clock }),
  };
}

/** A new object each time: connections share a token where they share the object. */
export function clientCredentialsOf({ clientKey, clientId, clientSecret }: TestApplication): SecretCredentials {
  return { flow: 'client-credentials', apiKey: clientKey, clientId, clientSecret };
}

/** The account of the application at a practice. */
export function passwordCredentialsOf(
  { legacyKey, accounts }: TestApplication,
  { prefix }: TestFirm,
): PasswordCredentials {
  const account = accounts.get(prefix);
  if (account === undefined) throw new Error(`no account at ${prefix}`);
  return { flow: 'password', apiKey: legacyKey, ...account };
}

export interface RecordedFetch {
  readonly fetch: typeof fetch;
  /** Method and URL of each request. */
  readonly requests: readonly Request[];
  /** How many went to a token endpoint. */
  countTokenRequests(): number;
}

/** `fetch`, and what it was asked for. */
export function recordFetch(send: typeof fetch = fetch): RecordedFetch {
  const requests: Request[] = [];
  return {
    requests,
    fetch: async (input, init) => {
      requests.push(new Request(input, init));
      return await send(input, init);
    },
    countTokenRequests: () => requests.filter(({ url }) => url.endsWith('/token') || url.endsWith('/grant')).length,
  };
}
