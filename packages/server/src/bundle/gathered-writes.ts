/**
 * A store whose creates wait until something reads, and then go to the database together: a transaction of thousands of new
 * resources costs a few statements.
 */
import { fail } from '../base/errors.ts';
import type { Sql } from '../database/sql.ts';
import type { ChangeFeed } from '../storage/changes.ts';
import type { StatementOptions, StatementRunner } from '../storage/statement-runner.ts';
import { batchMax, type ResourceStore, type ResourceWrite, type StoredResource } from '../storage/store.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { firmValueSet } from '../terminology/firm-value-sets.ts';

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
  const codes = rememberedCodes((inside, id) => after(() => store.read(inside, 'ValueSet', id)));
  const gathered: ResourceStore = {
    read: (inside, type, id) => codes.read(inside, type, id) ?? after(() => store.read(inside, type, id)),
    exists: (...args) => after(() => store.exists(...args)),
    readVersion: (...args) => after(() => store.readVersion(...args)),
    history: (...args) => after(() => store.history(...args)),
    typeHistory: (...args) => after(() => store.typeHistory(...args)),
    systemHistory: (...args) => after(() => store.systemHistory(...args)),
    currentVersions: (...args) => after(() => store.currentVersions(...args)),
    once: (...args) => after(() => store.once(...args)),
    keptAnswer: (...args) => after(() => store.keptAnswer(...args)),
    failParameters: (...args) => store.failParameters(...args),
    parameterStandings: (...args) => after(() => store.parameterStandings(...args)),
    selectPage: (...args) => after(() => store.selectPage(...args)),
    selectLedger: (...args) => after(() => store.selectLedger(...args)),
    selectCount: (...args) => after(() => store.selectCount(...args)),
    selectEstimate: (...args) => after(() => store.selectEstimate(...args)),
    ...featureStatements(store, after),
    writeMany: (inside, writes) => after(() => store.writeMany(inside, codes.forgetting(writes))),
    transaction: (_scope, work) => work(gathered),
    exclusively: (inside, name, work) => after(() => store.exclusively(inside, name, () => work(gathered))),
    ...walks(store, after),
    async write(inside, write) {
      codes.forgetting([write]);
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

/**
 * The value sets that entries are judged by, most often the same ones: else each of thousands would ask for them, and send
 * what waits.
 */
function rememberedCodes(read: (scope: TenantScope, id: string) => Promise<StoredResource | undefined>) {
  const known = new Map<string, Promise<StoredResource | undefined>>();
  return {
    /** undefined: it is something else. */
    read(scope: TenantScope, type: string, id: string): Promise<StoredResource | undefined> | undefined {
      if (type !== 'ValueSet' || firmValueSet(id) === undefined) return undefined;
      const found = known.get(id) ?? read(scope, id);
      known.set(id, found);
      return found;
    },
    /** The writes; what they may change is asked for anew. */
    forgetting(writes: readonly ResourceWrite[]): readonly ResourceWrite[] {
      if (writes.some(({ type }) => type === 'ValueSet')) known.clear();
      return writes;
    },
  };
}

type After = <T>(work: () => Promise<T>) => Promise<T>;

/** What stands apart from the resources need not wait for their writes. */
function featureStatements(store: ResourceStore, after: After): StatementRunner {
  const known = new Map<string, Promise<readonly unknown[]>>();
  return {
    run<Row extends object>(scope: TenantScope, statement: Sql, options: StatementOptions = {}) {
      const send = () => store.run<Row>(scope, statement, options);
      const ask = () => (options.standsApart === true ? send() : after(send));
      if (options.remembered !== true) return ask();
      const question = JSON.stringify([statement.text, statement.values]);
      const rows = (known.get(question) as ReturnType<typeof send> | undefined) ?? ask(); // the same statement has the same rows
      known.set(question, rows);
      return rows;
    },
  };
}

/** Over all that a firm stores. */
function walks(store: ResourceStore, after: After): ChangeFeed & Pick<ResourceStore, 'stream' | 'portion'> {
  return {
    changes: (...args) => after(() => store.changes(...args)),
    placeSince: (...args) => after(() => store.placeSince(...args)),
    completeUntil: (...args) => after(() => store.completeUntil(...args)),
    stream: (...args) => store.stream(...args),
    portion: (...args) => after(() => store.portion(...args)),
  };
}
