/**
 * The job that makes firms' own search parameters searchable: it registers them, walks over what was stored before, and
 * lets searches use them once every resource has its index rows (docs/decisions/0130). Any number of processes may run it
 * at once, and each may die at any moment: all that it knows is in the database.
 */
import type { Budget } from '@praxis/fhir';
import type { Metrics } from '../base/metrics.ts';
import { buildJsonRequest, makeMany } from '../base/worst-case.ts';
import type { Queryable } from '../database/database.ts';
import type { DeclaredJob } from '../jobs/declared-job.ts';
import { type FirmWorkContext, pickBusier, workFirmByFirm } from '../jobs/firm-work.ts';
import type { Job, Progress } from '../jobs/jobs.ts';
import { jobLimits, type OpenBudget } from '../limits/budgets.ts';
import { CostlyParameters } from '../search/index/costly-parameters.ts';
import { deleteIndexRows, failParameters } from '../storage/index-statements.ts';
import { raiseEpochs } from '../tenancy/epochs.ts';
import { isPassed } from './barrier.ts';
import { noteFailedParameters } from './note-failed.ts';
import { listParameterNumbers, reconcile } from './reconcile.ts';
import {
  activate,
  drop,
  lockParameter,
  type RegisteredParameter,
  remove,
  selectFirmsWithWork,
  selectRegisteredParameters,
  takeChange,
} from './registry.ts';
import { begin, indexPortion, type WalkedFirm } from './walk.ts';

/** `levels` criteria inside each other, each of which looks at all identifiers of the resource again. */
function nestedCriteria(levels: number): string {
  const opening = '%resource.identifier.where('.repeat(levels);
  return `Flag.identifier.where(${opening}value = 'none'${').exists()'.repeat(levels)}).value`;
}

/** Firms that one portion looks at. */
const firmsMax = 16;

/** How soon after its POST a SearchParameter is taken up, at most, when nothing else is to do; in ms. */
const pauseMs = 1_000;

export interface ParameterIndexingOptions extends FirmWorkContext {
  /** FHIR base URL of a firm, without a slash at the end: absolute references below it are its own. */
  readonly baseUrlOf: (firm: { readonly environment: string; readonly prefix: string }) => string;
  readonly openBudget: OpenBudget;
  readonly metrics: Pick<Metrics, 'searchParametersFailed' | 'jobsParked'>;
}

interface FirmWithWork extends Omit<WalkedFirm, 'baseUrl'> {
  readonly prefix: string;
  readonly environment: string;
}

export const parameterIndexingJob = {
  firmJob: 'search-parameters',
  worstCase: {
    because: 'an expression that grows with a power of the resource (F1)',
    stored: () => [
      {
        resourceType: 'Flag',
        id: 'siege-flag',
        identifier: makeMany(70, (number) => ({ value: `value ${number}` })),
        status: 'active',
        code: { text: 'Siege' },
        subject: { display: 'Nobody' },
      },
    ],
    request: () =>
      buildJsonRequest('PUT', 'SearchParameter/siege-parameter', {
        resourceType: 'SearchParameter',
        id: 'siege-parameter',
        url: 'http://example.com/SearchParameter/siege',
        name: 'Siege',
        status: 'active',
        description: 'A search parameter that looks at everything again and again',
        code: 'siege',
        base: ['Flag'],
        type: 'string',
        expression: nestedCriteria(6),
      }),
  },
  open: openIndexingJob,
} as const satisfies DeclaredJob<ParameterIndexingOptions>;

export function openIndexingJob(options: ParameterIndexingOptions): Job {
  const { database, baseUrlOf } = options;
  let last = 0; // the firm that was looked at last: the next portion begins behind it
  return {
    name: 'search parameters of firms',
    pauseMs,
    run: workFirmByFirm(options, {
      job: parameterIndexingJob.firmJob,
      async firms(paused) {
        const firms = await database.query<FirmWithWork>(selectFirmsWithWork(paused, last, firmsMax));
        last = firms.at(-1)?.id ?? 0;
        return firms;
      },
      work: (firm) => advance(options, { ...firm, baseUrl: baseUrlOf(firm) }),
    }),
  };
}

/** One step of everything that is to do at a firm. */
async function advance(options: ParameterIndexingOptions, firm: WalkedFirm): Promise<Progress> {
  const { database, openBudget } = options;
  const openStepBudget = (): Budget => openBudget({ application: 0, firm: firm.id }, jobLimits);
  const changed = await database.transaction(firm.id, async (tx) => {
    const taken = await takeChange(tx, firm.id);
    if (taken) await reconcile(tx, firm.id, openStepBudget());
    return taken;
  });
  let state: Progress = changed ? 'more' : 'done';
  const rows = await database.forFirm(firm.id).query<RegisteredParameter>(selectRegisteredParameters(firm.id));
  for (const { id, state: of } of rows) {
    if (of !== 'indexing' && of !== 'dropping') continue;
    const step = of === 'indexing' ? indexStep : dropStep;
    const work = () => database.transaction(firm.id, (tx) => step(tx, firm, id, openStepBudget()));
    state = pickBusier(state, await failingCostly(options, firm.id, work));
  }
  return state;
}

/** Runs a step. What costs too much has failed, so that the others go on. */
async function failingCostly(
  options: ParameterIndexingOptions,
  firm: number,
  work: () => Promise<Progress>,
): Promise<Progress> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CostlyParameters)) throw error;
    const failed = await options.database.transaction(firm, (tx) => failParameters(tx, firm, error.failed));
    noteFailedParameters(options, firm, failed);
    return 'more';
  }
}

/** @throws CostlyParameters */
async function indexStep(tx: Queryable, firm: WalkedFirm, id: number, budget: Budget): Promise<Progress> {
  if ((await lockParameter(tx, firm.id, id, 'indexing')) === undefined || !(await isPassed(tx, firm.id, id)))
    return 'waiting';
  const parameter = await lockParameter(tx, firm.id, id, 'indexing'); // isPassed may have set it back to the beginning
  if (parameter === undefined) return 'waiting';
  if (parameter.ridMax === null) await tx.query(begin(firm.id, parameter));
  else if (!(await indexPortion(tx, firm, parameter, budget))) await complete(tx, firm.id, parameter);
  return 'more';
}

/** From the next statement on the firm's searches use it, in place of the definition that it follows. */
async function complete(tx: Queryable, firm: number, { id, resourceId }: RegisteredParameter): Promise<void> {
  const rows = await tx.query<RegisteredParameter>(selectRegisteredParameters(firm));
  const followed = rows.filter((row) => row.resourceId === resourceId && row.state === 'active').map((row) => row.id);
  await tx.query(drop(firm, followed));
  await tx.query(activate(firm, id));
  await raiseEpochs(tx, { firm });
}

async function dropStep(tx: Queryable, { id: firm }: WalkedFirm, id: number): Promise<Progress> {
  const parameter = await lockParameter(tx, firm, id, 'dropping');
  if (parameter === undefined || !(await isPassed(tx, firm, id))) return 'waiting';
  const deleted = await deleteIndexRows(tx, firm, listParameterNumbers(parameter.definition, id));
  if (!deleted) await tx.query(remove(firm, [id]));
  return 'more';
}
