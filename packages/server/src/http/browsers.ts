/**
 * Browsers of other origins (https://fetch.spec.whatwg.org/#http-cors-protocol): those that PRAXIS_CORS_ORIGINS names, and in
 * the generic sandbox those on the developer's own machine.
 */
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { fail } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Environment } from '../tenancy/environments.ts';
import type { ParsedRequest } from './request/parsed-request.ts';

const localhost = /^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/;

/** The name of the generic sandbox, and of the realm that its applications get tokens from. */
const sandbox = { environment: 'sandbox', realm: 'sandbox' } as const satisfies {
  environment: Environment['name'];
  realm: Environment['realm'];
};

/** Origins that may call the request's path, as @fastify/cors takes them; false: no browser may. */
export function findAllowedOrigins({ corsOrigins }: Config, request: FastifyRequest): '*' | string[] | false {
  if (corsOrigins.includes('*')) return '*';
  const { origin } = request.headers;
  if (origin !== undefined && localhost.test(origin) && isSandbox(request.parsed)) return [...corsOrigins, origin];
  return corsOrigins.length === 0 ? false : [...corsOrigins];
}

/** Whether the answer of the request's path depends on the origin, so that caches have to know. */
export function variesByOrigin({ corsOrigins }: Config, { parsed }: FastifyRequest): boolean {
  return corsOrigins.length > 0 || isSandbox(parsed);
}

/** Whether the path is of the sandbox's data, or of its token service. */
function isSandbox({ route }: ParsedRequest): boolean {
  if (route === undefined || route.kind === 'administration') return false;
  return route.kind === 'realm' ? route.realm === sandbox.realm : route.environment === sandbox.environment;
}

/** Other OPTIONS requests are answered like any method that a path does not take (https://fetch.spec.whatwg.org/#cors-preflight-fetch). */
export function isPreflight({ headers, method }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

/** Pause between two lines of the log. */
const loggedEveryMs = 60_000;

/**
 * Refuses preflights while no origin may call, and says which setting is missing: in the answer, which the tools of a browser
 * show, and in the log, once a minute.
 */
export function openPreflightRefusal(clock: Clock, log: Log): (request: FastifyRequest) => never {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return ({ headers }) => {
    if (clock.now() - loggedAtMs >= loggedEveryMs) {
      loggedAtMs = clock.now();
      log.warn({ origin: headers.origin?.slice(0, 200) }, 'a browser was refused: PRAXIS_CORS_ORIGINS names no origin');
    }
    return fail('method-not-allowed', {
      diagnostics: `Browsers may not call this path from other origins: the setting PRAXIS_CORS_ORIGINS names none. In the environment ${sandbox.environment}, http://localhost and http://127.0.0.1 may`,
      headers: { allow: '' },
    });
  };
}
