/**
 * What the contract says about a request, written as data and apart from the service: facts of a token, a key, a place
 * and what is asked there; rules in the order in which they refuse (docs/integrate/contract.md#order-of-checks), the
 * first that applies answers; what no rule refuses is allowed.
 */

export type Flow = 'legacy' | 'client';

/** What is wrong with a token before anything is looked up about its holder. */
export type TokenDefect =
  | 'absent'
  | 'sent-twice'
  | 'in-query'
  | 'malformed'
  | 'unknown-algorithm'
  | 'unknown-key'
  | 'wrong-signature'
  | 'expired'
  | 'refresh-token'
  | 'keyless';

export interface TokenFacts {
  readonly defect?: TokenDefect;
  readonly flow: Flow;
  readonly environment: string;
  readonly realm: string;
  readonly application: string;
  /** Of a legacy token. */
  readonly firm?: string;
  readonly holder: 'active' | 'revoked' | 'suspended';
}

export interface KeyFacts {
  readonly sent: 'absent' | 'empty' | 'repeated' | 'once';
  readonly state: 'unknown' | 'active' | 'revoked';
  readonly flow: Flow;
  readonly environment: string;
  readonly application: string;
}

export interface PlaceFacts {
  readonly environment: string;
  /** Undefined: no such environment or product. */
  readonly realm: string | undefined;
  readonly firm: string;
  /** Applications with a live authorisation at the firm, which is itself live. */
  readonly open: readonly string[];
}

export interface AskedFacts {
  readonly typeServed: boolean;
  /** Status when everything is allowed. */
  readonly success: number;
}

export interface RequestFacts {
  readonly token: TokenFacts;
  readonly key: KeyFacts;
  readonly place: PlaceFacts;
  readonly asked: AskedFacts;
}

/** How one credential failed: words that the diagnostics must hold. */
export interface Named {
  readonly credential: 'token' | 'key';
  readonly how: RegExp;
}

export interface Expected {
  readonly status: number;
  /** Row of the error table; undefined for success. */
  readonly error?: string;
  /** FHIR IssueType. */
  readonly issue?: string;
  /** The credentials that the OperationOutcome names, one issue each, in order. */
  readonly named: readonly Named[];
  /** WWW-Authenticate: with an error, without one, or none. */
  readonly challenge: 'invalid_token' | 'bare' | 'none';
}

const tokenWords: Readonly<Record<TokenDefect, RegExp>> = {
  absent: /is missing/,
  'sent-twice': /more than once/,
  'in-query': /in the query is refused/,
  malformed: /is malformed/,
  'unknown-algorithm': /algorithm/,
  'unknown-key': /unknown key \(kid\)/,
  'wrong-signature': /wrong signature/,
  expired: /has expired/,
  'refresh-token': /is a refresh token/,
  keyless: /without x-api-key/,
};

/** In order; a token that is read is authentic before anything it says is believed. */
const tokenRules: readonly {
  readonly applies: (facts: RequestFacts) => boolean;
  readonly how: (token: TokenFacts) => RegExp;
}[] = [
  {
    applies: ({ token }) => token.defect !== undefined && token.defect !== 'keyless',
    how: ({ defect }) => tokenWords[defect ?? 'absent'],
  },
  {
    applies: ({ token, place }) => token.flow === 'client' && token.realm !== place.realm,
    how: () => /issued by realm/,
  },
  { applies: ({ token, place }) => token.environment !== place.environment, how: () => /another environment/ },
  { applies: ({ token }) => token.defect === 'keyless', how: () => tokenWords.keyless },
];

const holderRules: readonly { readonly applies: (facts: RequestFacts) => boolean; readonly how: RegExp }[] = [
  { applies: ({ token }) => token.holder === 'revoked', how: /revoked (?:client|account)/ },
  { applies: ({ token }) => token.holder === 'suspended', how: /suspended application/ },
];

const keyHeaderRules: readonly { readonly applies: (facts: RequestFacts) => boolean; readonly how: RegExp }[] = [
  { applies: ({ key }) => key.sent === 'absent', how: /is missing/ },
  { applies: ({ key }) => key.sent === 'empty', how: /is empty/ },
  { applies: ({ key }) => key.sent === 'repeated', how: /more than once/ },
];

const keyRules: readonly { readonly applies: (facts: RequestFacts) => boolean; readonly how: RegExp }[] = [
  { applies: ({ key }) => key.state === 'unknown', how: /not a known API key/ },
  { applies: ({ key }) => key.state === 'revoked', how: /revoked/ },
  { applies: ({ key, token }) => key.flow !== token.flow, how: /is a (?:legacy|client-credentials) key/ },
  { applies: ({ key, place }) => key.environment !== place.environment, how: /another environment/ },
  { applies: ({ key, token }) => key.application !== token.application, how: /another application/ },
];

/** The answer to a request with these facts. */
export function expectedAnswer(facts: RequestFacts): Expected {
  const { token, key, place, asked } = facts;
  if (place.realm === undefined) return refusal(404, 'path-unknown', 'not-found');
  const credentials = credentialProblems(facts);
  if (credentials.length > 0) return unauthorised(facts, credentials);
  const isOpen = place.open.includes(token.application);
  const isElsewhere = token.flow === 'legacy' && token.firm !== place.firm;
  if (!isOpen || isElsewhere) return refusal(403, 'firm-forbidden', 'forbidden');
  if (!asked.typeServed) return refusal(404, 'type-unknown', 'not-supported');
  if (key.sent !== 'once') throw new Error('a request without one key is never allowed');
  return { status: asked.success, named: [], challenge: 'none' };
}

/** A token that is no good says nothing about whose key is right, so then only the header of the key is judged. */
function credentialProblems(facts: RequestFacts): readonly Named[] {
  const tokenRule = tokenRules.find((rule) => rule.applies(facts));
  const header = named('key', keyHeaderRules.find((rule) => rule.applies(facts))?.how);
  if (tokenRule !== undefined) return [...named('token', tokenRule.how(facts.token)), ...header];
  if (header.length > 0) return header;
  return [
    ...named('token', holderRules.find((rule) => rule.applies(facts))?.how),
    ...named('key', keyRules.find((rule) => rule.applies(facts))?.how),
  ];
}

function named(credential: Named['credential'], how: RegExp | undefined): readonly Named[] {
  return how === undefined ? [] : [{ credential, how }];
}

function unauthorised({ token, key }: RequestFacts, problems: readonly Named[]): Expected {
  const isTokenNamed = problems.some(({ credential }) => credential === 'token');
  const isMissing = isTokenNamed ? token.defect === 'absent' : key.sent === 'absent';
  const isExpired = isTokenNamed && token.defect === 'expired';
  const error = isMissing ? 'credentials-missing' : isExpired ? 'credentials-expired' : 'credentials-invalid';
  return {
    status: 401,
    error,
    issue: isExpired ? 'expired' : 'login',
    named: problems,
    // RFC 6750 §3.1: a request without any token is told no error.
    challenge: token.defect === 'absent' ? 'bare' : 'invalid_token',
  };
}

function refusal(status: number, error: string, issue: string): Expected {
  return { status, error, issue, named: [], challenge: 'none' };
}
