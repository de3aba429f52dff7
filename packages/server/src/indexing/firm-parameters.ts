/**
 * The job that makes firms' own search parameters searchable: it registers them, walks over what was stored before, and
 * lets searches use them once every resource has its index rows (docs/decisions/0130). Any number of processes may run it
 * at once, and each may die at any moment: all that it knows is in the database.
 */
import type { Database, Queryable } from '../database/database.ts';
import type { Job } from '../jobs/jobs.ts';
import { deleteIndexRows } from '../storage/index-statements.ts';
import { raiseEpochs } from '../tenancy/epochs.ts';
import { isPassed } from './barrier.ts';
import { numbersOf, reconcile } from './reconcile.ts';
import {
  activate,
  drop,
  firmsWithWork,
  held,
  listed,
  type RegisteredParameter,
  remove,
  takeChange,
} from './registry.ts';
import { begin, indexPortion, type WalkedFirm } from './walk.ts';

/** Firms that one portion looks at. */
const firmsMax = 16;

/** How soon after its POST a SearchParameter is taken up, at most, when nothing else is to do; in ms. */
const pauseMs = 1_000;

export interface ParameterIndexingOptions {
  readonly database: Database;
  /** FHIR base URL of a firm, without a slash at the end: absolute references below it are its own. */
  readonly baseUrlOf: (firm: { readonly environment: string; readonly prefix: string }) => string;
}

interface FirmWithWork {
  readonly id: number;
  readonly prefix: string;
  readonly environment: string;
  readonly timeZone: string;
}

export function parameterIndexing({ database, baseUrlOf }: ParameterIndexingOptions): Job {
  return {
    name: 'search parameters of firms',
    pauseMs,
    async run() {
      const firms = await database.query<FirmWithWork>(firmsWithWork(firmsMax));
      let state: Progress = 'done';
      for (const firm of firms) {
        state = busier(state, await advance(database, { ...firm, baseUrl: baseUrlOf(firm) }));
      }
      return state;
    },
  };
}

type Progress = Awaited<ReturnType<Job['run']>>;

const order: readonly Progress[] = ['done', 'waiting', 'more'];

function busier(left: Progress, right: Progress): Progress {
  return order.indexOf(left) < order.indexOf(right) ? right : left;
}

/** One step of everything that is to do at a firm. */
async function advance(database: Database, firm: WalkedFirm): Promise<Progress> {
  const changed = await database.transaction(firm.id, async (tx) => {
    const taken = await takeChange(tx, firm.id);
    if (taken) await reconcile(tx, firm.id);
    return taken;
  });
  let state: Progress = changed ? 'more' : 'done';
  const rows = await database.forFirm(firm.id).query<RegisteredParameter>(listed(firm.id));
  for (const { id, state: of } of rows) {
    if (of !== 'indexing' && of !== 'dropping') continue;
    const step = of === 'indexing' ? indexStep : dropStep;
    state = busier(state, await database.transaction(firm.id, (tx) => step(tx, firm, id)));
  }
  return state;
}

async function indexStep(tx: Queryable, firm: WalkedFirm, id: number): Promise<Progress> {
  if ((await held(tx, firm.id, id, 'indexing')) === undefined || !(await isPassed(tx, firm.id, id))) return 'waiting';
  const parameter = await held(tx, firm.id, id, 'indexing'); // isPassed may have set it back to the beginning
  if (parameter === undefined) return 'waiting';
  if (parameter.ridMax === null) await tx.query(begin(firm.id, parameter));
  else if (!(await indexPortion(tx, firm, parameter))) await complete(tx, firm.id, parameter);
  return 'more';
}

/** From the next statement on the firm's searches use it, in place of the definition that it follows. */
async function complete(tx: Queryable, firm: number, { id, resourceId }: RegisteredParameter): Promise<void> {
  const rows = await tx.query<RegisteredParameter>(listed(firm));
  const followed = rows.filter((row) => row.resourceId === resourceId && row.state === 'active').map((row) => row.id);
  await tx.query(drop(firm, followed));
  await tx.query(activate(firm, id));
  await raiseEpochs(tx, { firm });
}

async function dropStep(tx: Queryable, firm: WalkedFirm, id: number): Promise<Progress> {
  const parameter = await held(tx, firm.id, id, 'dropping');
  if (parameter === undefined || !(await isPassed(tx, firm.id, id))) return 'waiting';
  const deleted = await deleteIndexRows(tx, firm.id, numbersOf(parameter.definition, id));
  if (!deleted) await tx.query(remove(firm.id, [id]));
  return 'more';
}
