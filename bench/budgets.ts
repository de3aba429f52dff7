/**
 * What the budget of a request costs the work that spends from it most often: the same work with the budget of a request, and
 * with one that does nothing, in turns. Of each the quartile of the rounds that were least disturbed counts. Ends with an error
 * when the budget takes more than its share of a create of the same resource, which is reckoned with 500 µs.
 *
 *     node tools/setup.mjs bench/budgets.ts [ROUNDS]
 */
import { readFileSync } from 'node:fs';
import * as fhir from '@praxis/fhir';
import { type Budget, type JsonObject, openBudget, type StepBudget } from '@praxis/fhir';
import { checkInvariants } from '../packages/fhir/src/invariants/check.ts';
import { validateResource } from '../packages/fhir/src/validate.ts';
import { requestLimits } from '../packages/server/src/limits/budgets.ts';
import { quantile } from './cpu.ts';

const rounds = Number(process.argv[2] ?? 200);
const passes = 200;
const createMicros = 500;
/** Of the work of a create. */
const shareMax = 0.03;

const budgets: Readonly<Record<'none' | 'request', () => Budget>> = {
  none: () => ({
    spend: () => undefined,
    take: () => undefined,
    giveBack: () => undefined,
    breathe: async () => undefined,
    turn: async () => undefined,
    extend: () => undefined,
    stepsLeft: 1e9,
  }),
  request: () =>
    openBudget(requestLimits, {
      now: () => performance.now(),
      nextSlice: async () => undefined,
      errorOf: ({ what }) => new Error(what),
    }),
};

interface Work {
  readonly name: string;
  readonly run: (resource: JsonObject, budget: Budget) => unknown;
}

const work = { what: 'Extracting', cheaper: '' };

function extraction(type: string): Work {
  const extractors = [...fhir.getSearchParameters(type).values()].flatMap(({ expression }) =>
    expression === undefined ? [] : [fhir.compileExtractor(type, expression)],
  );
  return {
    name: 'search values',
    run: (resource, budget: StepBudget) => {
      for (const extract of extractors) extract(resource, budget, work);
    },
  };
}

const checks: readonly Work[] = [
  { name: 'structure', run: (resource, budget) => validateResource(resource, { budget }) },
  {
    name: 'invariants',
    run: (resource, budget) => checkInvariants(resource, { severity: 'error', breachesMax: 100, budget }),
  },
];

/** µs of one run of `work`, without and with the budget. */
function measure({ run }: Work, resource: JsonObject): { readonly none: number; readonly request: number } {
  const times: Record<keyof typeof budgets, number[]> = { none: [], request: [] };
  for (let round = 0; round < rounds * 2; round += 1) {
    for (const kind of round % 2 === 0 ? (['none', 'request'] as const) : (['request', 'none'] as const)) {
      const beganMs = performance.now();
      for (let pass = 0; pass < passes; pass += 1) run(resource, budgets[kind]());
      if (round >= rounds) times[kind].push(((performance.now() - beganMs) / passes) * 1000);
    }
  }
  return { none: quantile(times.none, 0.25), request: quantile(times.request, 0.25) };
}

let isBroken = false;
for (const example of ['Patient-example', 'Appointment-example', 'Observation-blood-pressure', 'Encounter-f001']) {
  const file = new URL(`../node_modules/hl7.fhir.r4.examples/${example}.json`, import.meta.url);
  const resource: JsonObject = JSON.parse(readFileSync(file, 'utf8'));
  let spent = 0;
  for (const each of [extraction(example.replace(/-.*/, '')), ...checks]) {
    const { none, request } = measure(each, resource);
    spent += request - none;
    console.log(`${example}, ${each.name}: ${none.toFixed(1)} µs, with the budget ${request.toFixed(1)} µs`);
  }
  isBroken ||= spent > shareMax * createMicros;
  console.log(`${example}: the budget takes ${spent.toFixed(1)} µs (at most ${shareMax * createMicros})`);
}
process.exitCode = isBroken ? 1 : 0;
