/**
 * What a grant is (https://www.rfc-editor.org/rfc/rfc6749#section-4). To add one, write a file beside this one and its
 * line in `list.ts`; token endpoint, error texts and discovery follow.
 */
import type { Environment } from '../../tenancy/environments.ts';
import type { ApiKeyHeader } from '../client-auth/api-key-header.ts';
import type { RateExchange } from '../counted-request.ts';
import type { Form } from '../form.ts';
import type { LegacyTerms } from '../legacy/sunset.ts';
import type { TokenService } from '../token-service.ts';

/** A grant of an endpoint whose requests arrive as `Request`. */
export interface TokenGrant<Request> {
  /** The `grant_type` it answers to. */
  readonly grantType: string;
  /**
   * Checks a request and makes its tokens.
   * @throws OAuthError when it is refused (RFC 6749 §5.2)
   */
  issue(service: TokenService, request: Request, form: Form): Promise<Issued>;
}

export interface Issued {
  /** The JSON object of the answer (RFC 6749 §5.1). */
  readonly response: Readonly<Record<string, string | number>>;
  /** Whom the tokens are for, for log and audit: the subject they name. */
  readonly subject: string;
  readonly application: number;
  /** `jti` of the access token. */
  readonly tokenId: string;
  /** False when a client-credentials request came without API key: the token opens nothing. */
  readonly keyed: boolean;
}

/** A request to the legacy endpoint of a firm (contract 4.1). */
export interface LegacyRequest {
  readonly environment: Environment;
  /** As in the path; whether there is such a firm is not known. */
  readonly firmPrefix: string;
  readonly apiKey: ApiKeyHeader;
  /** Whether its Content-Type is that of a form, which only an application with the setting `anyFormType` need not send. */
  readonly hasFormType: boolean;
  /** Where it comes from. */
  readonly address: string;
  /** What becomes known of the caller. */
  readonly exchange: LegacyExchange;
}

/** What a request to the legacy endpoint has shown about its caller, filled in while it is answered. */
export interface LegacyExchange extends RateExchange {
  /** The terms that the caller may know; absent until its facts have been read. */
  terms?: LegacyTerms;
  /** Whose account it is, and of which firm; absent until the caller has proved it. It may be refused for other reasons. */
  account?: { readonly firm: number; readonly application: number; readonly subject: string };
  /** Who uses the flow; absent until the caller has proved that it may act at the firm. */
  user?: { readonly firm: number; readonly application: number };
}

/** A request to the token endpoint of a realm (contract 4.3). */
export interface ClientRequest {
  readonly realm: string;
  readonly apiKey: ApiKeyHeader;
  /** Every value of the Authorization header. */
  readonly authorization: readonly string[];
  /** Which endpoint was called: what comes after `/protocol/openid-connect/`. */
  readonly endpoint: string;
  /** Where it comes from. */
  readonly address: string;
  /** What becomes known of the caller. */
  readonly exchange: ClientExchange;
}

/** Filled in while a request to an endpoint of a realm is answered, for its row in the audit ledger and its headers. */
export interface ClientExchange extends RateExchange {
  /** Who asks; absent until it has proved to be it. */
  client?: { readonly subject: string; readonly application: number };
  /** The client's own token that it asks about or ends: its `jti` and how it was got. */
  token?: { readonly tokenId: string; readonly flow: string };
  /** Whether the answer to an introspection said anything of the token. */
  active?: boolean;
}
