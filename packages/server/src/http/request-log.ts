/**
 * The log of requests: one line for each, at `info` where PRAXIS_ACCESS_LOG asks for it, otherwise at `debug`. A line holds nothing
 * of what a caller has sent but the method and a well-formed request id: paths are told by their template.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import type { ErrorCode } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { type FhirTarget, parseFhirTarget } from '../engine/fhir-target.ts';
import type { OAuthErrorCode } from '../oauth/errors.ts';
import { listOperations } from '../operations/registry.ts';
import type { ParsedRequest } from './request/parsed-request.ts';
import type { RealmEndpoint, Route } from './request/paths.ts';

/** What a line tells. Absent: it is not known. */
export interface RequestLine {
  readonly requestId?: string | undefined;
  /** A method that the parser of HTTP knows. */
  readonly method?: string | undefined;
  readonly route: string;
  readonly path: string;
  readonly status: number;
  /** Of a refusal or a fault. */
  readonly code?: ErrorCode | OAuthErrorCode | undefined;
  readonly ms: number;
  readonly environment?: string | undefined;
}

export interface RequestLog {
  /** @param describe called where the line is written alone */
  note(describe: () => RequestLine): void;
}

/** @param accessLog where lines go at `info`; undefined: they go to `log` at `debug` */
export function openRequestLog(accessLog: Log | undefined, log: Log): RequestLog {
  const level = accessLog === undefined ? 'debug' : 'info';
  const target = accessLog ?? log;
  if (!target.isLevelEnabled(level)) return { note: () => undefined };
  return { note: (describe) => target[level](describe(), 'request') };
}

const tenant = '/{environment}/firm/{firm}/{product}';
const realm = '/auth/realms/{realm}';

const realmPaths: Readonly<Record<RealmEndpoint, string>> = {
  token: `${realm}/protocol/openid-connect/token`,
  introspect: `${realm}/protocol/openid-connect/token/introspect`,
  revoke: `${realm}/protocol/openid-connect/revoke`,
  certs: `${realm}/protocol/openid-connect/certs`,
  'openid-configuration': `${realm}/.well-known/openid-configuration`,
  'oauth-authorization-server': `/.well-known/oauth-authorization-server${realm}`,
};

const servedMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** As metrics and spans name a method: callers can choose among dozens, and each would be a series of its own. */
export function describeMethod(method: string): string {
  return servedMethods.has(method) ? method : 'other';
}

/** Of websockets. */
export const socketPath = `${tenant}/ws/subscriptions`;

/** Of a path that has no template: nothing of it is told. */
export const unknownPath = '{unknown}';

/** The path without its values. What is no word of ours, such as a type that R4 does not have, is a value. */
export function describePath({ page, route }: Pick<ParsedRequest, 'page' | 'route'>): string {
  return page ?? (route === undefined ? unknownPath : describeRoute(route));
}

function describeRoute(route: Route): string {
  switch (route.kind) {
    case 'fhir':
      return `${tenant}/fhir/v2${describeTarget(parseFhirTarget(route.segments))}`;
    case 'legacy-token':
      return `${tenant}/ws/oauth2/grant`;
    case 'websocket':
      return socketPath;
    case 'content':
      return `${tenant}/content/{id}`;
    case 'smart-configuration':
      return `${tenant}/fhir/v2/.well-known/smart-configuration`;
    case 'protected-resource':
      return `/.well-known/oauth-protected-resource${tenant}/fhir/v2`;
    case 'realm':
      return realmPaths[route.endpoint];
    case 'administration':
      return `/admin/${unknownPath}`; // its actions say their paths themselves
  }
}

const types: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

function describeTarget(target: FhirTarget | undefined): string {
  if (target === undefined) return `/${unknownPath}`;
  const type = describeType(target.type);
  const owner = target.compartment === undefined ? '' : `/${describeType(target.compartment.type)}/{id}`;
  switch (target.shape) {
    case 'system':
      return '';
    case 'metadata':
      return '/metadata';
    case 'system-search':
      return '/_search';
    case 'system-history':
      return '/_history';
    case 'type':
      return `/${type}`;
    case 'search':
      return `/${type}/_search`;
    case 'type-history':
      return `/${type}/_history`;
    case 'instance':
      return `/${type}/{id}`;
    case 'history':
      return `/${type}/{id}/_history`;
    case 'version':
      return `/${type}/{id}/_history/{vid}`;
    case 'compartment':
      return `${owner}/${type}`;
    case 'compartment-search':
      return `${owner}/${type}/_search`;
    case 'compartment-types':
      return `${owner}/*`;
    case 'compartment-types-search':
      return `${owner}/*/_search`;
    case 'operation':
      return `${describeOperated(target, type)}/${describeOperation(target.operation)}`;
  }
}

function describeType(type: string): string {
  return types.has(type) ? type : '{type}';
}

/** The base, type, instance or version that an operation is asked of. */
function describeOperated({ type, id, versionId }: FhirTarget, described: string): string {
  if (type === '') return '';
  const version = versionId === '' ? '' : '/_history/{vid}';
  return id === '' ? `/${described}` : `/${described}/{id}${version}`;
}

function describeOperation(name: string): string {
  return listOperations().some((each) => each.name === name) ? `$${name}` : '{operation}';
}
