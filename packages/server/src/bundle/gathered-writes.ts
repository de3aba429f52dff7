/**
 * A store whose creates wait until something reads, and then go to the database together: a transaction of thousands of new
 * resources costs a few statements.
 */
import { fail } from '../base/errors.ts';
import { batchMax, type ResourceStore, type ResourceWrite } from '../storage/store.ts';
import type { TenantScope } from '../tenancy/scope.ts';

export interface GatheredWrites {
  readonly store: ResourceStore;
  /** Sends what waits; to be called before the transaction ends. @throws PraxisError `conflict`, `stale-access` */
  flush(): Promise<void>;
}

/** @param store of one transaction in the firm of `scope` */
export function gatherWrites(scope: TenantScope, store: ResourceStore): GatheredWrites {
  let waiting: ResourceWrite[] = [];
  const flush = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const writes = waiting;
    waiting = [];
    const outcomes = await store.writeMany(scope, writes);
    if (outcomes.some(({ outcome }) => outcome !== 'written'))
      fail('conflict', { diagnostics: 'A new id is taken: repeat the request' });
  };
  const after = async <T>(work: () => Promise<T>): Promise<T> => {
    await flush();
    return await work();
  };
  const gathered: ResourceStore = {
    read: (...args) => after(() => store.read(...args)),
    exists: (...args) => after(() => store.exists(...args)),
    readVersion: (...args) => after(() => store.readVersion(...args)),
    history: (...args) => after(() => store.history(...args)),
    typeHistory: (...args) => after(() => store.typeHistory(...args)),
    systemHistory: (...args) => after(() => store.systemHistory(...args)),
    currentVersions: (...args) => after(() => store.currentVersions(...args)),
    changes: (...args) => after(() => store.changes(...args)),
    once: (...args) => after(() => store.once(...args)),
    keptAnswer: (...args) => after(() => store.keptAnswer(...args)),
    placeSince: (...args) => after(() => store.placeSince(...args)),
    completeUntil: (...args) => after(() => store.completeUntil(...args)),
    parameterStandings: (...args) => after(() => store.parameterStandings(...args)),
    selectPage: (...args) => after(() => store.selectPage(...args)),
    selectLedger: (...args) => after(() => store.selectLedger(...args)),
    selectCount: (...args) => after(() => store.selectCount(...args)),
    selectEstimate: (...args) => after(() => store.selectEstimate(...args)),
    writeMany: (...args) => after(() => store.writeMany(...args)),
    transaction: (_scope, work) => work(gathered),
    exclusively: (inside, name, work) => after(() => store.exclusively(inside, name, () => work(gathered))),
    stream: (...args) => store.stream(...args),
    async write(inside, write) {
      // Nobody else can have the id that the server has just made, so the outcome is known.
      if (write.audit.interaction !== 'create' || write.expectedVersion !== 0)
        return await after(() => store.write(inside, write));
      waiting.push(write);
      if (waiting.length === batchMax) await flush();
      return { outcome: 'written', versionId: 1 };
    },
  };
  return { store: gathered, flush };
}
