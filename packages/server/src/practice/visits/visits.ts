/**
 * The Encounters of an appointment, changed with it (https://hl7.org/fhir/R4/encounter.html). They are the server's own
 * doing: whoever may change the appointment brings them about, and sees of them what it may read
 * (docs/decisions/0187). So nothing here refuses: a refusal would tell of Encounters.
 */

import type { Appointment, Encounter, EncounterStatusCode, Period } from '@praxis/fhir';
import { boxStored, parseStored } from '../../access/disclosure.ts';
import type { AuditRow } from '../../audit/audit-row.ts';
import { toInstant } from '../../base/clock.ts';
import { makeResourceId } from '../../base/ids.ts';
import type { InteractionContext } from '../../engine/context.ts';
import { buildSearchRights } from '../../engine/search/searching.ts';
import { selectPage } from '../../engine/search/select-page.ts';
import { buildWrite } from '../../engine/write/build-write.ts';
import { saveVersion } from '../../engine/write/save-version.ts';
import { type Act, type Effect, listSteps } from '../../resources/states/state-table.ts';
import { parseSearch } from '../../search/query/query.ts';
import { requireType, type StoredResource } from '../../storage/store.ts';
import { buildVisit } from './appointment-visit.ts';
import { encounterStates, openStates } from './encounter-states.ts';

/** Undoes a transaction in which a version was no longer the current one: it is to be run again. */
export class Overtaken extends Error {}

/** Encounters of one appointment that are looked at, the oldest first, as far as a page reads; there is one as a rule. */
const visitsMax = 20;

/** The appointment whose visits change. */
export interface Visited {
  readonly id: string;
  readonly resource: Appointment;
  readonly on: Act['on'];
  /** The access entries under which the appointment was changed. */
  readonly granted: Pick<AuditRow, 'entries'>;
}

interface EffectRule {
  /** States of Encounters that count: while there is one, none is made. */
  readonly counting: readonly EncounterStatusCode[];
  /** What is made where none counts; absent: nothing. */
  readonly making?: {
    readonly status: EncounterStatusCode;
    readonly period: (visited: Visited, now: string) => Period;
  };
}

const rules: Readonly<Record<Effect, EffectRule>> = {
  'opens-visit': {
    counting: openStates,
    making: { status: 'arrived', period: (_visited, now) => ({ start: now }) },
  },
  'ends-visit': {
    counting: [...openStates, 'finished'],
    making: { status: 'finished', period: (_visited, now) => ({ end: now }) },
  },
  'records-visit': {
    counting: [...openStates, 'finished'],
    making: {
      status: 'finished',
      period: ({ resource: { start, end } }) => ({ ...(start && { start }), ...(end && { end }) }),
    },
  },
  'cancels-visit': { counting: [] },
};

/**
 * Carries out the effects inside the transaction of `context`. Returns the Encounters that were made or changed.
 * @throws Overtaken
 */
export async function moveVisits(
  context: InteractionContext,
  visited: Visited,
  effects: readonly Effect[],
): Promise<readonly StoredResource[]> {
  const changed: StoredResource[] = [];
  for (const effect of effects) {
    const { counting, making } = rules[effect];
    const visits = await visitsOf(context, visited.id);
    for (const row of visits) {
      const visit = parseStored(row.content);
      const [step] = listSteps(encounterStates, visit.status ?? '', { by: 'server', on: visited.on });
      if (step === undefined) continue;
      changed.push(await written(context, visited, row.id, inState(visit, step.to, context.clock.now()), row));
    }
    const counts = visits.some(({ content }) => counting.some((status) => status === parseStored(content).status));
    if (making === undefined || counts) continue;
    const period = making.period(visited, toInstant(context.clock.now()));
    const made = buildVisit(visited, making.status, period);
    changed.push(await written(context, visited, makeResourceId(context.clock), made, undefined));
  }
  return changed;
}

/** The Encounters that name the appointment, whoever may see them. */
async function visitsOf(
  context: InteractionContext,
  appointment: string,
): Promise<readonly StoredResource<'Encounter'>[]> {
  const { scope, baseUrl, clock, limits, secrets, store } = context;
  const query = parseSearch('Encounter', [['appointment', `Appointment/${appointment}`]], {
    timeZone: scope.timeZone,
    baseUrl,
    nowMs: clock.now(),
    limits,
    searchParameters: [],
    rights: buildSearchRights(context), // of links to other types: there is none
  });
  const cursor = { secrets, policyFingerprint: '' };
  const target = { scope, query: { ...query, count: visitsMax }, mandatory: [[]], cursor };
  const { rows } = await selectPage({ store, scope }, target);
  return rows.map((row) => requireType(row, 'Encounter'));
}

/** @param current the version before; undefined: it comes into being */
async function written(
  context: InteractionContext,
  { on, granted: { entries } }: Visited,
  id: string,
  resource: Encounter,
  current: StoredResource | undefined,
): Promise<StoredResource> {
  const interaction = current === undefined ? 'create' : 'patch';
  const expected = current?.versionId ?? 0;
  const write = await buildWrite(context, interaction, 'Encounter', id, resource, expected, current);
  const audited = entries === undefined ? write : { ...write, audit: { ...write.audit, entries } };
  const outcome = await saveVersion(context, audited, current, { act: { by: 'server', on } });
  if (outcome.outcome === 'conflict') throw new Overtaken();
  const { versionId } = outcome;
  const { lastUpdatedMs, content } = write;
  return { type: 'Encounter', id, versionId, lastUpdatedMs, deleted: false, content: content ?? boxStored('') };
}

/**
 * The visit in its new state, the old one in its history (Encounter.statusHistory). It begins when the patient arrives and
 * ends when it is finished; a beginning still to come would be after the end.
 */
function inState(encounter: Encounter, status: EncounterStatusCode, nowMs: number): Encounter {
  const now = toInstant(nowMs);
  const { statusHistory: history = [], period: { start } = {} } = encounter;
  const since = history.at(-1)?.period.end ?? start;
  const isBefore = since !== undefined && Date.parse(since) <= nowMs;
  const passed = {
    status: encounter.status ?? 'unknown',
    period: { ...(isBefore ? { start: since } : {}), end: now },
  };
  const after = { ...encounter, status, statusHistory: [...history, passed] };
  if (status === 'arrived') return { ...after, period: { start: now } };
  if (status !== 'finished') return after;
  const isToCome = start !== undefined && Date.parse(start) > nowMs;
  return { ...after, period: { ...(start === undefined || isToCome ? {} : { start }), end: now } };
}
