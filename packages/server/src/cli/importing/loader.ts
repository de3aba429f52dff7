/** What every part of an import works with: a firm, the operator's rights there, and how resources are taken. */

import type { Platform } from '../../app.ts';
import { PraxisError } from '../../base/errors.ts';
import { makeUuid } from '../../base/ids.ts';
import type { BuildWriteContext } from '../../engine/write/build-write.ts';
import { buildBaseUrl, openOrigins } from '../../http/origins.ts';
import { openOperatorBudget } from '../../limits/budgets.ts';
import { CostlyParameters } from '../../search/index/costly-parameters.ts';
import type { Firm } from '../../tenancy/firms.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';

/** What becomes of a resource whose id is there: a new version, a refusal, or nothing. */
export const importModes = ['upsert', 'create', 'skip-existing'] as const;
export type ImportMode = (typeof importModes)[number];

export interface ImportRules {
  readonly mode: ImportMode;
  /** False only for what this program made itself and its tests validate. */
  readonly validate: boolean;
  /** Whether resources that break invariants of R4 are stored, and counted. */
  readonly lenientInvariants: boolean;
}

export interface Loader {
  readonly platform: Platform;
  readonly firm: Firm;
  readonly rules: ImportRules;
  /** Read again when the operator's rights have changed. */
  context: BuildWriteContext;
  /** Plans in a row of which nothing was there: after some of them nobody looks before. */
  newPlans: number;
}

/** Times that something is tried on top of what others have done in between. */
export const batchAttemptsMax = 4;

export async function openLoader(platform: Platform, firm: Firm, rules: ImportRules): Promise<Loader> {
  return { platform, firm, rules, context: await makeContext(platform, firm), newPlans: 0 };
}

async function makeContext(platform: Platform, firm: Firm): Promise<BuildWriteContext> {
  const { config, clock, database } = platform;
  const scope = await openOperatorScope(database, clock, firm);
  const origins = openOrigins(config, () => `http://${config.host}:${config.port}`);
  const baseUrl = buildBaseUrl(origins, { environment: firm.environment, firm: firm.prefix, product: scope.product });
  const caller = { flow: 'client', tokenId: makeUuid(), subject: 'praxis', requestId: makeUuid() } as const;
  return { scope, clock, caller, baseUrl, budget: openOperatorBudget() };
}

/**
 * What `work` gives with the operator's present rights. When an epoch was raised in between (a firm was suspended and
 * resumed, for instance), the statement was refused before it did anything, so it is repeated.
 */
export async function withRights<T>(loader: Loader, work: (context: BuildWriteContext) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(loader.context);
    } catch (error) {
      // A definition of the firm's that costs too much stops no import.
      if (error instanceof CostlyParameters)
        await loader.platform.store.failParameters(loader.context.scope, error.failed);
      const isStale = error instanceof PraxisError && error.code === 'stale-access';
      if (!isStale || attempt === batchAttemptsMax) throw error;
      loader.context = await makeContext(loader.platform, loader.firm);
    }
  }
}
