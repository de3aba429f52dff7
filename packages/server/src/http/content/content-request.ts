/**
 * A request for content, when its URL was found to allow it: what upload and download share.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Patients } from '../../audit/audit-row.ts';
import { PraxisError } from '../../base/errors.ts';
import type { ContentLink } from '../../practice/documents/content-links.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import type { ServerServices } from '../services.ts';

/** A request whose URL allows it, at its path. */
export interface ContentRequest {
  readonly parts: ServerServices;
  readonly id: string;
  readonly link: ContentLink;
  readonly scope: TenantScope;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Of the row in the audit ledger, as far as it is known. */
  readonly noted: { patients?: Patients };
  /** Counts the bytes against the rate limits. */
  readonly charge: (bytes: number) => void;
}

/** @throws PraxisError `link-ended` */
export function refuseEndedLink(purpose: ContentLink['purpose'], what: string): never {
  throw makeLinkEndedError(purpose, what);
}

/** The refusal of a URL that was good once, with what to do next. */
export function makeLinkEndedError(purpose: ContentLink['purpose'], what: string): PraxisError {
  const next = purpose === 'upload' ? 'ask for another by POST Binary' : 'read the resource again to get another';
  return new PraxisError('link-ended', { diagnostics: `${what}: ${next}` });
}
