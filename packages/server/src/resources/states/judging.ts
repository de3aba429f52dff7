/**
 * The judgement of a change by the tables of states (docs/decisions/0185, 0186). What cannot be known is not judged: an
 * import does not come here, and a resource that was stored without a state may take any.
 */
import type { JsonObject } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import type { Behaviour, VersionChange } from '../behaviour.ts';
import {
  type Act,
  type Actor,
  actors,
  findStateTable,
  listSteps,
  mayBegin,
  type StateTable,
  type Step,
} from './state-table.ts';

/** What a behaviour needs to be judged by `tables`, all of one type; the last of them is for all resources of the type. */
export function buildJudge(tables: readonly StateTable[]): Pick<Behaviour, 'judge' | 'judged'> {
  const byCoding = tables.some(({ coding }) => coding !== undefined);
  return { judge: (change) => judge(tables, change), judged: byCoding ? ['status', 'code'] : ['status'] };
}

/** The act of a change that says nothing else. */
const plainWrite: Act = { by: 'application', on: 'write' };

/** @throws PraxisError `rule-broken` naming the state and those that may follow it */
function judge(tables: readonly StateTable[], { before, after, write, act = plainWrite }: VersionChange): void {
  if (after === undefined) return;
  const table = findStateTable(tables, before ?? after);
  if (table === undefined) return;
  if (before !== undefined && findStateTable(tables, after) !== table) refuseOtherTable(table);
  const to = stateOf(after);
  const from = before && stateOf(before);
  if (before !== undefined && to === from) return;
  if (to === undefined) return refuse(table, 'has no value: it tells where the resource stands, and is needed');
  if (before === undefined) requireBeginning(table, to, act.by, isCopy({ write, before }));
  else if (from !== undefined) requireStep(table, from, to, act);
}

/**
 * Where `act`, an operation, leads to from the state of the resource.
 * @throws PraxisError `rule-broken` naming the state, those that the operation is for, and those that may follow
 */
export function resolveStep<Code extends string>(table: StateTable<Code>, resource: JsonObject, act: Act): Step<Code> {
  const from = stateOf(resource) ?? '';
  const [step] = listSteps(table, from, act);
  if (step !== undefined) return step;
  const taken = table.states.filter(({ code }) => listSteps(table, code, act).length > 0).map(({ code }) => code);
  return refuse(
    table,
    `is ${from}: ${act.on} takes it from ${taken.join(' or ')} only. ${following(table, from, act.by)}`,
  );
}

function stateOf(resource: JsonObject): string | undefined {
  const { status } = resource;
  return typeof status === 'string' ? status : undefined;
}

/** A PUT under an id that nothing has, which needs the operator's rights: a record is brought along as it stands elsewhere. */
export function isCopy({ write, before }: Pick<VersionChange, 'write' | 'before'>): boolean {
  return before === undefined && write.audit.interaction === 'update';
}

function requireBeginning(table: StateTable, to: string, by: Actor, isCopied: boolean): void {
  const state = table.states.find(({ code }) => code === to);
  if (state !== undefined && (isCopied || mayBegin(state, by))) return;
  const possible = table.states.filter((each) => mayBegin(each, by)).map(({ code }) => code);
  const rule = possible.length === 0 ? 'only the service itself makes one' : `it begins as ${possible.join(', ')}`;
  refuse(table, `cannot be ${to} in a new ${table.name}: ${rule}`);
}

function requireStep(table: StateTable, from: string, to: string, act: Act): void {
  if (listSteps(table, from, act).some((step) => step.to === to)) return;
  refuse(table, `is ${from} and cannot become ${to}. ${following(table, from, act.by)}`);
}

/** The states that may follow, the operations that lead on, and what is for others to do. */
function following(table: StateTable, from: string, by: Actor): string {
  const own = table.transitions.filter((each) => actors[by].includes.includes(each.by) && each.from.includes(from));
  const further = table.transitions.filter(
    (each) => each.by === 'practice' && each.on === 'write' && each.from.includes(from) && !own.includes(each),
  );
  const listed = (words: readonly string[]) => [...new Set(words)].join(', ');
  const states = listed(own.flatMap(({ on, to }) => (on === 'write' ? to : [])));
  const operations = listed(own.flatMap(({ on }) => (on === 'write' ? [] : [on])));
  const byPractice = listed(further.flatMap(({ to }) => to));
  const texts = [`What may follow ${from}: ${states === '' ? 'nothing' : states}`];
  if (operations !== '') texts.push(`by an operation: ${operations}`);
  if (byPractice !== '') texts.push(`by the practice: ${byPractice}`);
  return texts.join('; ');
}

/** Else a resource would leave its table by one change, and come back in any state by another. */
function refuseOtherTable(table: StateTable): never {
  return fail('rule-broken', {
    diagnostics: `${table.type}.code tells which states the resource has (docs/integrate/states.md, ${table.name}): it cannot begin or cease to be the code of another kind`,
    expression: [`${table.type}.code`],
  });
}

function refuse({ type }: StateTable, problem: string): never {
  return fail('rule-broken', { diagnostics: `${type}.status ${problem}`, expression: [`${type}.status`] });
}
