/**
 * Searches as a caller with all rights asks them: from parameters to the text of the Bundle, without HTTP.
 */
import { unwrapDisclosed } from '../../packages/server/src/access/disclosure.ts';
import { compilePolicy } from '../../packages/server/src/access/policy.ts';
import { makeUuid } from '../../packages/server/src/base/ids.ts';
import type { FhirRequest, InteractionContext } from '../../packages/server/src/engine/context.ts';
import { dispatch } from '../../packages/server/src/engine/dispatch.ts';
import { openOperatorBudget } from '../../packages/server/src/limits/budgets.ts';
import { readSettings } from '../../packages/server/src/tenancy/application-settings.ts';
import { openOperatorScope } from '../../packages/server/src/tenancy/operator.ts';
import type { Validator } from '../../packages/server/src/validation/validation.ts';
import type { DataSet } from './data-set.ts';

/** One search of one firm. */
export interface Asked {
  readonly context: InteractionContext;
  readonly type: string;
  /** Not encoded. */
  readonly query: string;
}

export interface Answer {
  readonly ms: number;
  readonly text: string;
}

const unused = (): never => {
  throw new Error('a search reads no body');
};

/** What callers of each firm of the data set are known by, in the order of the firms. */
export async function contextsOf(set: DataSet, validator: Validator): Promise<readonly InteractionContext[]> {
  const { database, store, clock, secrets, config } = set.platform;
  return await Promise.all(
    set.members.map(async (firm) => ({
      scope: await openOperatorScope(database, clock, firm),
      policy: compilePolicy(['acl/*'], ['acl/*']),
      caller: { flow: 'client', tokenId: makeUuid(), subject: 'bench', requestId: makeUuid() } as const,
      settings: readSettings({}),
      store,
      clock,
      secrets,
      validator,
      limits: config,
      budget: openOperatorBudget(),
      baseUrl: `http://127.0.0.1/sandbox/firm/${firm.prefix}/pm/fhir/v2`,
      trail: [],
    })),
  );
}

/** The answer, and how long it took. */
export async function ask({ context, type, query }: Asked): Promise<Answer> {
  const request = requestOf(type, query);
  const startMs = performance.now();
  const { body } = await dispatch(context, { ...request, interaction: 'search-type', open: async () => request });
  return { ms: performance.now() - startMs, text: body === undefined ? '' : unwrapDisclosed(body) };
}

function requestOf(type: string, query: string): FhirRequest {
  const parameters = query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)] as const);
  return {
    type,
    id: '',
    versionId: '',
    parameters,
    body: unused,
    patch: unused,
    ifMatch: undefined,
    ifNoneMatch: undefined,
    ifModifiedSince: undefined,
    ifNoneExist: undefined,
    prefer: { return: undefined, handling: 'strict' },
  };
}

interface BundleFacts {
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly unknown[];
}

/** Entries of the Bundle. */
export function entriesOf({ text }: Answer): number {
  return bundleOf(text).entry?.length ?? 0;
}

/** The `_cursor` of the link to the next page. */
export function nextCursorOf({ text }: Answer): string | undefined {
  const url = bundleOf(text).link?.find(({ relation }) => relation === 'next')?.url;
  return url === undefined ? undefined : (new URL(url).searchParams.get('_cursor') ?? undefined);
}

function bundleOf(text: string): BundleFacts {
  return JSON.parse(text);
}
