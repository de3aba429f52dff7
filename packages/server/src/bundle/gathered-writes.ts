/**
 * A store whose creates wait until something reads, and then go to the database together: a transaction of thousands of new
 * resources costs a few statements.
 */
import { fail } from '../base/errors.ts';
import type { Sql } from '../database/sql.ts';
import type { ChangeFeed } from '../storage/changes.ts';
import type { StatementOptions, StatementRunner } from '../storage/statement-runner.ts';
import { batchMax, type ResourceStore, type ResourceWrite } from '../storage/store.ts';
import type { TenantScope } from '../tenancy/scope.ts';

/**
 * @param store of one transaction in the firm of `scope`
 * @returns `flush` sends what waits; to be called before the transaction ends. It throws PraxisError `conflict`, `stale-access`
 */
export function gatherWrites(scope: TenantScope, store: ResourceStore) {
  let waiting: ResourceWrite[] = [];
  const flush = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const writes = waiting;
    waiting = [];
    const outcomes = await store.writeMany(scope, writes);
    if (outcomes.some(({ outcome }) => outcome !== 'written'))
      fail('conflict', { diagnostics: 'The new id is already in use: repeat the request' });
  };
  const after = async <T>(work: () => Promise<T>): Promise<T> => {
    await flush();
    return await work();
  };
  const answers = rememberedAnswers();
  const gathered: ResourceStore = {
    read(inside, type, id, options) {
      const ask = () => after(() => store.read(inside, type, id));
      return options?.remembered === true ? answers.remember(nameOf({ type, id }), ask) : ask();
    },
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
    ...featureStatements(store, after, answers),
    createMany: (...args) => after(() => store.createMany(...args)),
    writeMany: (inside, writes) => after(() => store.writeMany(inside, answers.forgetting(writes))),
    transaction: (_scope, work) => work(gathered),
    exclusively: (inside, name, work) => after(() => store.exclusively(inside, name, () => work(gathered))),
    ...walks(store, after),
    async write(inside, write) {
      answers.forgetting([write]);
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

type After = <T>(work: () => Promise<T>) => Promise<T>;

/** What stands apart from the resources need not wait for their writes. */
function featureStatements(store: ResourceStore, after: After, answers: Answers): StatementRunner {
  return {
    change: (...args) => store.change(...args),
    run<Row extends object>(scope: TenantScope, statement: Sql, options: StatementOptions = {}) {
      const send = () => store.run<Row>(scope, statement, options);
      const ask = () => (options.standsApart === true ? send() : after(send));
      if (options.remembered !== true) return ask();
      return answers.remember(JSON.stringify([statement.text, statement.values]), ask);
    },
  };
}

type Answers = ReturnType<typeof rememberedAnswers>;

/** What thousands of entries ask again, which would send what waits each time. */
function rememberedAnswers() {
  const known = new Map<string, Promise<unknown>>();
  return {
    remember<T>(question: string, ask: () => Promise<T>): Promise<T> {
      const answer = (known.get(question) as Promise<T> | undefined) ?? ask(); // the same question has answers of one kind
      known.set(question, answer);
      return answer;
    },
    /** The writes; what they change is asked for anew. */
    forgetting(writes: readonly ResourceWrite[]): readonly ResourceWrite[] {
      for (const write of writes) known.delete(nameOf(write));
      return writes;
    },
  };
}

function nameOf({ type, id }: Pick<ResourceWrite, 'type' | 'id'>): string {
  return `${type}/${id}`;
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
