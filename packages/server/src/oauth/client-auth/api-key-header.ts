/**
 * The `x-api-key` header, and what can be wrong with it. An empty, repeated or unknown key is a wrong key and never an
 * omitted one (docs/integrate/contract.md#credentials), since only an omitted one lets a client-credentials request pass
 * (contract 7.1).
 */
import type { Flow } from './api-keys.ts';

export type ApiKeyHeader =
  | { readonly kind: 'absent' | 'empty' | 'repeated' }
  | { readonly kind: 'sent'; readonly apiKey: string };

/** @param values every value of the header as it was received */
export function readApiKeyHeader(values: readonly string[]): ApiKeyHeader {
  const [apiKey, ...more] = values;
  if (apiKey === undefined) return { kind: 'absent' };
  if (more.length > 0) return { kind: 'repeated' };
  return apiKey === '' ? { kind: 'empty' } : { kind: 'sent', apiKey };
}

/** The stored facts of a key that was looked up; all null when there is no such key. */
export interface ApiKeyFacts {
  readonly keyId: number | null;
  readonly keyFlow: Flow | null;
  readonly keyState: string | null;
  readonly keyApplication: number | null;
  readonly keyEnvironment: number | null;
}

const flowNames: Readonly<Record<Flow, string>> = { legacy: 'legacy', client: 'client-credentials' };

/**
 * What is wrong with the header before anything is looked up, useful words first; undefined when a key was sent.
 * @param flow whose key is needed, where that is known
 */
export function findHeaderProblem(header: ApiKeyHeader, flow?: Flow): string | undefined {
  switch (header.kind) {
    case 'absent':
      return `x-api-key header is missing: send the API key of the ${flow === undefined ? 'application and flow of the token' : `${flowNames[flow]} flow`}`;
    case 'empty':
      return 'x-api-key header is empty: an empty key is a wrong key';
    case 'repeated':
      return 'x-api-key header is sent more than once: send one key';
    case 'sent':
      return undefined;
  }
}

/**
 * What is wrong with a key that was looked up, useful words first; undefined when it is live and of this flow and
 * environment. Whether it is the right application's is the caller's question.
 */
export function findKeyProblem(facts: ApiKeyFacts, flow: Flow, environment: number): string | undefined {
  if (facts.keyFlow === null) return 'x-api-key is not a known API key';
  if (facts.keyState !== 'active') return 'x-api-key has been revoked';
  if (facts.keyFlow !== flow)
    return `x-api-key is a ${flowNames[facts.keyFlow]} key: this needs the ${flowNames[flow]} key of the application`;
  if (facts.keyEnvironment !== environment) return 'x-api-key belongs to another environment';
  return undefined;
}
