/**
 * What a request asks for by its first line and its headers, read once when it arrives. `request.parsed` is set by the
 * first hook of server.ts, so that everything after it finds path, route and formats there.
 */
import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../base/errors.ts';
import { type FhirTarget, findInteraction, type TargetName } from '../../engine/fhir-target.ts';
import type { OAuthErrorCode } from '../../oauth/errors.ts';
import { type FormatWishes, formatWishes } from '../answer/answer-format.ts';
import { matchPath, type Route } from './paths.ts';

export interface ParsedRequest {
  /** As it was sent, without the query. */
  readonly path: string;
  /** Without its question mark; '' where there is none. */
  readonly query: string;
  /** undefined: the grammar of paths does not know it. */
  readonly route: Route | undefined;
  /** What the answer may be written in. The form of a search is part of it once it was read: addForm. */
  formats: FormatWishes;
  /** The path of the open page or the template of the action of administration that is asked for, once it was found. */
  page: string | undefined;
  /** Name of the environment, once it was found. */
  environment: string | undefined;
  /** Why it was refused or failed, once it was. */
  refusal: ErrorCode | OAuthErrorCode | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    parsed: ParsedRequest;
  }
}

/** Reads the first line and the headers. */
export function parseRequest({ headers, method, originalUrl }: FastifyRequest): ParsedRequest {
  const at = originalUrl.indexOf('?');
  const path = at < 0 ? originalUrl : originalUrl.slice(0, at);
  const query = at < 0 ? '' : originalUrl.slice(at + 1);
  return {
    path,
    query,
    route: matchPath(path),
    formats: formatWishes(headers, method, query),
    page: undefined,
    environment: undefined,
    refusal: undefined,
  };
}

/** Adds the form of a search, whose `_format` counts: errors after this are answered in the format it asks for, too. */
export function addForm(parsed: ParsedRequest, form: string): void {
  parsed.formats = { ...parsed.formats, query: `${parsed.query}&${form}` };
}

export type FhirRoute = Extract<Route, { kind: 'fhir' }>;

/** A request of the data API. */
export interface ParsedFhirRequest {
  readonly target: FhirTarget;
  readonly query: string;
  /** undefined: the type does not exist, or the method has no meaning there; requireInteraction says which. */
  readonly interaction: TargetName | undefined;
  /** It is answered with the content of a Binary unless the resource is asked for. */
  readonly isBinaryRead: boolean;
}

/** What the request asks of the target that its path names. */
export function parseFhirRequest(target: FhirTarget, { method, parsed }: FastifyRequest): ParsedFhirRequest {
  const interaction = findInteraction(target, method);
  const isBinaryRead = target.type === 'Binary' && (interaction === 'read' || interaction === 'vread');
  return { target, query: parsed.query, interaction, isBinaryRead };
}
