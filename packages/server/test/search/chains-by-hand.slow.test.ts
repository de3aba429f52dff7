/**
 * A chain is the join done by hand, and `_has` the join the other way: for every reference parameter and type of target
 * of which the official examples or a synthetic practice have data, and for paths of up to three links in either
 * direction, over one type and over several (https://hl7.org/fhir/R4/search.html#chaining and #has).
 * Slow: follows every reference of all official examples by hand.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { getSearchParameters, type JsonObject } from '@praxis/fhir';
import fc from 'fast-check';
import { chainTypesMax } from '../../src/search/query/parse-condition.ts';
import { generatePractice } from '../../src/synthetic/practice.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService, startMs } from '../support/service.ts';
import {
  keyOf,
  type Leaf,
  type Link,
  loadBare,
  type Question,
  type Records,
  recordsOf,
  type Step,
  targetsOf,
  typeOf,
  written,
} from './joined-by-hand.ts';
import { officialExamples } from './official-examples.ts';

/** Questions at the end of each link: its target's id, and two more that are spread over what it can be asked. */
const leavesPerLink = 3;
const walks = 200;
const linksMax = 3;
const seed = 20261121;

const service = await openTestService({ after });

/** `Type/id` of all that the search finds, on all pages, and the number that the service counts. */
async function search(caller: Caller, path: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, json, text } = await caller.get(next);
    assert.equal(status, 200, `${path}: ${text}`);
    const matches = (json.entry ?? []).filter(({ search }: { search: { mode: string } }) => search.mode === 'match');
    found.push(...matches.map(({ resource }: { resource: JsonObject }) => keyOf(resource)));
    next = json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
  }
  return found;
}

async function compare(caller: Caller, records: Records, question: Question): Promise<number> {
  const path = written(question);
  const expected = records.answer(question);
  assert.ok(expected !== undefined, path);
  const found = await search(caller, path);
  assert.deepEqual(found.toSorted(), [...expected].toSorted(), path);
  return expected.size;
}

/** The id, and others of different parameters, taken from all places of the list. */
function spread(leaves: readonly Leaf[], at: number): readonly Leaf[] {
  const byCode = [...new Map(leaves.map((leaf) => [leaf.code, leaf])).values()];
  const others = byCode.filter(({ code }) => code !== '_id');
  const chosen = Array.from({ length: leavesPerLink - 1 }, (_, nth) => others[(at * 7 + nth * 3) % others.length]);
  return [...new Set([...byCode.filter(({ code }) => code === '_id'), ...chosen])].filter((leaf) => leaf !== undefined);
}

/** Both directions of a link by each leaf; the chain with the type of the target and, where it is one of few, without. */
function questionsOver(records: Records, { source, code, target }: Link, at: number): readonly Question[] {
  const [from, to] = [typeOf(source), typeOf(target)];
  const forward = spread(records.leavesOf(target), at).flatMap((leaf): Question[] => [
    { type: from, steps: [{ kind: 'chain', code, only: to }], leaf },
    { type: from, steps: [{ kind: 'chain', code }], leaf },
  ]);
  const backward = spread(records.leavesOf(source), at).map(
    (leaf): Question => ({ type: to, steps: [{ kind: 'has', source: from, code }], leaf }),
  );
  return [...forward.filter(isNarrow), ...backward];
}

/**
 * A path through the data, so that it has an answer: from a link on, each choice takes one of the links at the place
 * where the last one ended, in either direction or, for every other path, forward where it can; the last choice says what
 * is asked there.
 */
function walk(records: Records, first: number, choices: readonly number[], last: number): Question {
  const start = pick(records.links, first);
  const steps: Step[] = [];
  let at = first % 2 === 0 ? start.source : start.target;
  const type = typeOf(at);
  let link: Link | undefined = start;
  for (const choice of choices) {
    if (link === undefined) break;
    const isForward: boolean = link.source === at && (link.target !== at || choice % 2 === 0);
    steps.push(
      isForward
        ? { kind: 'chain', code: link.code, only: typeOf(link.target) }
        : { kind: 'has', source: typeOf(link.source), code: link.code },
    );
    at = isForward ? link.target : link.source;
    const forward = records.linksFrom(at);
    const further: readonly Link[] =
      forward.length > 0 && first % 2 === 0 ? forward : [...forward, ...records.linksTo(at)];
    link = further.length === 0 ? undefined : pick(further, choice);
  }
  return untyped({ type, steps, leaf: pick(records.leavesOf(at), last) }, last);
}

/** For every other choice the same path without types of targets, where no link is too wide for that. */
function untyped(question: Question, choice: number): Question {
  if (choice % 2 === 0) return question;
  const steps: Step[] = [];
  for (const step of question.steps) {
    if (step.kind === 'has') return question;
    steps.push({ kind: 'chain', code: step.code });
  }
  const open = { ...question, steps };
  return isNarrow(open) ? open : question;
}

/** Whether each link leads to few enough types that have the rest of the path. */
function isNarrow({ type, steps: [step, ...steps], leaf }: Question): boolean {
  if (step === undefined) return true;
  if (step.kind === 'has' || step.only !== undefined) return true;
  const further = targetsOf(type, step.code)
    .map((target): Question => ({ type: target, steps, leaf }))
    .filter(leadsOn);
  return further.length <= chainTypesMax && further.every(isNarrow);
}

function leadsOn({ type, steps: [step, ...steps], leaf }: Question): boolean {
  if (step === undefined) return getSearchParameters(type).has(leaf.code);
  return targetsOf(type, step.code).some((target) => leadsOn({ type: target, steps, leaf }));
}

function pick<T>(list: readonly T[], choice: number): T {
  return list[choice % list.length] ?? assert.fail('nothing to choose from');
}

const practice = [
  ...generatePractice({
    seed: 'chains',
    firm: 'cedar',
    name: 'Cedar',
    timeZone: 'America/New_York',
    patients: 4,
    todayMs: startMs,
  }),
];

for (const [name, resources, least] of [
  ['maple', officialExamples(), 250],
  ['cedar', practice, 40],
] as const) {
  const firm = await makeFirm(service, name);
  const caller = await openCaller(service, await makeApplication(service, name, ['acl/*'], [firm]), firm);
  await loadBare(service, firm, resources);
  const records = recordsOf(resources);
  const samples = [
    ...new Map(
      // What the service itself writes of AuditEvent is its ledger, which no chain looks at: docs/decisions/0178.
      records.links
        .filter(({ source }) => typeOf(source) !== 'AuditEvent')
        .map((link) => [`${typeOf(link.source)}.${link.code}.${typeOf(link.target)}`, link]),
    ).values(),
  ];

  test(`every reference of ${name} is followed both ways`, { timeout: 120_000 }, async (t) => {
    assert.ok(samples.length >= least, `${samples.length}`);
    let asked = 0;
    for (const [at, link] of samples.entries()) {
      for (const question of questionsOver(records, link, at)) {
        const size = await compare(caller, records, question);
        assert.ok(size > 0, written(question));
        asked += 1;
      }
    }
    t.diagnostic(`${records.links.length} references by ${samples.length} pairs, ${asked} searches`);
  });

  test(`paths of up to three links through ${name}`, { timeout: 120_000 }, async (t) => {
    const lengths = new Map<number, number>();
    let open = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1_000_000),
        fc.array(fc.nat(1_000_000), { minLength: 2, maxLength: linksMax }),
        fc.nat(1_000_000),
        async (first, choices, last) => {
          const question = walk(records, first, choices, last);
          const size = await compare(caller, records, question);
          assert.ok(size > 0, written(question));
          const counted = await caller.get(`${written(question)}&_summary=count`);
          assert.equal(counted.json.total, size, written(question));
          lengths.set(question.steps.length, (lengths.get(question.steps.length) ?? 0) + 1);
          if (question.steps.every((step) => step.kind === 'chain' && step.only === undefined)) open += 1;
        },
      ),
      { numRuns: walks, seed },
    );
    t.diagnostic(`paths by length: ${JSON.stringify([...lengths])}, ${open} without types`);
    assert.ok(open > walks / 20, `${open} name no type`);
    assert.ok((lengths.get(3) ?? 0) > walks / 10 && (lengths.get(2) ?? 0) > walks / 10);
  });
}
