/**
 * `npm run bench -- scale`: searches in 20 firms of 1,000 and of 50,000 resources each, beside each other. Ends with status 1
 * when a bound of issue "The FHIR R4 engine in full" is broken. docs/operate/performance.md shows its tables.
 *
 *     npm run bench -- scale [--rounds 5] [--firms 20] [--small 31] [--large 2020] [--only TEXT] [--data DIRECTORY]
 *
 * `--small` and `--large` are patients per firm. Without `--data` the databases are made anew in a temporary directory and
 * removed at the end; with it they are kept there and used again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openValidator } from '../../packages/server/src/validation/validation.ts';
import { contextsOf } from './asking.ts';
import { type DataSet, openDataSet } from './data-set.ts';
import {
  type Askable,
  betweenPages,
  betweenPractices,
  betweenSizes,
  type Compared,
  type Comparison,
  measure,
  withEstimate,
} from './measurements.ts';
import { brokenIn, type Section, tableOf } from './report.ts';
import { samplesOf } from './samples.ts';
import { broadSearches, type ScaleSearch, selectiveSearches, walkedSearches } from './searches.ts';

const sizeRatioMax = 1.5;
const depthRatioMax = 1.25;
const estimateRatioMax = 2;
/** How many times the rounds are made at most, for what is beyond its bound. */
const roundsFactorMax = 5;
/** Firms in which pages are walked. */
const walkedFirms = 3;

interface Options {
  readonly rounds: number;
  readonly firms: number;
  readonly small: number;
  readonly large: number;
  readonly only: string;
  readonly data: string | undefined;
}

/** Runs the bench with the arguments that follow its name; returns the exit status. */
export async function benchScale(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  const directory = options.data ?? mkdtempSync(path.join(os.tmpdir(), 'praxis-bench-'));
  const validator = openValidator();
  const open: DataSet[] = [];
  // One after the other: making the samples keeps this thread from reading answers.
  const opened = async (name: DataSet['name'], patientsPerFirm: number): Promise<Askable> => {
    const { firms } = options;
    const set = await openDataSet(path.resolve(directory), { name, firms, patientsPerFirm }, tell);
    open.push(set);
    const { resources, megabytes, loadSeconds } = set;
    console.log(`${name}: ${resources} resources in ${firms} firms, ${megabytes} MB, loaded in ${loadSeconds} s`);
    return { contexts: await contextsOf(set, validator), samples: samplesOf(set) };
  };
  try {
    const small = await opened('small', options.small);
    const large = await opened('large', options.large);
    return await measureAll(small, large, options);
  } finally {
    for (const { platform } of open) await platform.close();
    await validator.close();
    if (options.data === undefined) rmSync(directory, { recursive: true, force: true });
  }
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      firms: { type: 'string', default: '20' },
      small: { type: 'string', default: '31' },
      large: { type: 'string', default: '2020' },
      only: { type: 'string', default: '' },
      data: { type: 'string' },
    },
  });
  return {
    rounds: Number(values.rounds),
    firms: Number(values.firms),
    small: Number(values.small),
    large: Number(values.large),
    only: values.only,
    data: values.data,
  };
}

async function measureAll(small: Askable, large: Askable, { rounds, only }: Options): Promise<number> {
  const rowsOf = async (
    searches: readonly ScaleSearch[],
    prepare: (search: ScaleSearch) => Promise<Comparison>,
    ratioMax?: number,
  ): Promise<readonly Compared[]> => {
    const comparisons: Comparison[] = [];
    for (const search of searches.filter(({ type, name }) => `${type}, ${name}`.includes(only))) {
      tell(`${search.type}, ${search.name}`);
      comparisons.push(await prepare(search));
    }
    return await measure(comparisons, { rounds, roundsMax: rounds * roundsFactorMax, ratioMax });
  };
  const broken: string[] = [];
  const show = (section: Section): void => {
    if (section.rows.length === 0) return;
    console.log(`\n${tableOf(section)}`);
    broken.push(...brokenIn(section));
  };
  show({
    title: 'Selective searches',
    columns: ['small', 'large'],
    rows: await rowsOf(selectiveSearches, (search) => betweenSizes(search, small, large), sizeRatioMax),
    ratioMax: sizeRatioMax,
  });
  show({
    title: 'Pages by cursor, in the large data set',
    columns: ['page 2', 'page 1,000'],
    rows: await rowsOf(walkedSearches, (search) => betweenPages(search, large, walkedFirms), depthRatioMax),
    ratioMax: depthRatioMax,
  });
  show({
    title: 'With `_total=estimate`, in the large data set',
    columns: ['without', 'with'],
    rows: await rowsOf(
      [...selectiveSearches, ...broadSearches],
      (search) => withEstimate(search, large),
      estimateRatioMax,
    ),
    ratioMax: estimateRatioMax,
  });
  show({
    title: 'Searches that are not selective',
    columns: ['small', 'large'],
    rows: await rowsOf(broadSearches, (search) => betweenPractices(search, small, large)),
  });
  for (const line of broken) console.log(`BROKEN: ${line}`);
  return broken.length === 0 ? 0 : 1;
}

function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}
