/**
 * The form of a table of states: which states resources of a type have, how they begin, which state may follow which, by
 * whom, by what, and what happens with it. One table per file, named by the feature.ts beside it; judging.ts enforces them and
 * docs/integrate/states.md is printed from them. R4's codes are used as they are; R4 defines no transitions (docs/decisions/0185).
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';

/** Who makes a change; what each may do beside what is its own: `includes`. */
export type Actor = 'application' | 'practice' | 'operator' | 'server';

export interface ActorRow {
  readonly words: string;
  /** Those whose transitions it may make. */
  readonly includes: readonly Actor[];
}

export const actors: Readonly<Record<Actor, ActorRow>> = {
  application: { words: 'an application whose access entries let it write the resource', includes: ['application'] },
  practice: { words: 'staff, by the administration API', includes: ['application', 'practice'] },
  operator: {
    words: 'an application with `acl/*` that nothing narrows',
    includes: ['application', 'practice', 'operator'],
  },
  server: { words: 'the service itself, by its own work or as the effect of an operation', includes: ['server'] },
};

/**
 * `write`: any interaction that stores a resource; `offer`: the service's own work on the waiting list; else the name of an
 * operation: `$check-in`.
 */
export type Event = 'write' | 'offer' | `$${string}`;

/** What goes with a transition, in the same transaction. */
export const effects = {
  'opens-visit':
    'An Encounter of the appointment that is planned arrives. Where none is under way one is made: arrived, class AMB, with patient, practitioners, location and reasons of the appointment, from now on.',
  'ends-visit':
    'Each Encounter of the appointment that is planned or under way is finished and ends now. Where there is none at all, a finished one is made that ends now.',
  'records-visit':
    'Each Encounter of the appointment that is planned or under way is finished and ends now. Where there is none at all, a finished one is made with the times of the appointment.',
  'cancels-visit': 'Each Encounter of the appointment that has not begun (planned, arrived, triaged) is cancelled.',
} as const;

export type Effect = keyof typeof effects;

/** What has to hold beside the state. */
export const conditions = {
  'offer-stands': 'The service has offered the slot to one who waits, and the time of the offer is not over.',
} as const;

export type StateCondition = keyof typeof conditions;

export interface State<Code extends string = string> {
  readonly code: Code;
  readonly meaning: string;
  /** Who may bring a resource into being in this state; absent: nobody but by a copy. */
  readonly begins?: readonly Actor[];
}

/** From each of some states to each of others; never to the state itself. */
export interface Transition<Code extends string = string> {
  readonly from: readonly Code[];
  readonly to: readonly Code[];
  readonly by: Actor;
  readonly on: Event;
  readonly effects?: readonly Effect[];
  readonly condition?: StateCondition;
  readonly note?: string;
}

/** @template Code the codes of the status */
export interface StateTable<Code extends string = string> {
  /** What it is about, as a heading. */
  readonly name: string;
  readonly type: string;
  /** Only resources with this coding in `code`; absent: all of the type that no table before it is for. */
  readonly coding?: { readonly system: string; readonly code: string };
  readonly introduction: string;
  readonly states: readonly State<Code>[];
  readonly transitions: readonly Transition<Code>[];
}

/** Who does what. */
export interface Act {
  readonly by: Actor;
  readonly on: Event;
}

/** Where an event leads to. */
export interface Step<Code extends string = string> {
  readonly to: Code;
  readonly effects: readonly Effect[];
}

/** The steps that the act may make from a state: to several states by `write`, to one by an operation. */
export function listSteps<Code extends string>(
  { transitions }: StateTable<Code>,
  from: string,
  { by, on }: Act,
): readonly Step<Code>[] {
  return transitions
    .filter(
      (each) => each.on === on && each.from.some((code) => code === from) && actors[by].includes.includes(each.by),
    )
    .flatMap((each) => each.to.map((to) => ({ to, effects: each.effects ?? [] })));
}

/** Whether the actor may bring a resource into being in the state. */
export function mayBegin(state: State, by: Actor): boolean {
  return (state.begins ?? []).some((each) => actors[by].includes.includes(each));
}

/** The table that a resource is judged by. */
export function findStateTable(tables: readonly StateTable[], resource: JsonObject): StateTable | undefined {
  return tables.find(({ coding }) => coding === undefined || hasCoding(resource['code'], coding));
}

function hasCoding(concept: JsonValue | undefined, { system, code }: NonNullable<StateTable['coding']>): boolean {
  const codings = isJsonObject(concept) && Array.isArray(concept['coding']) ? concept['coding'] : [];
  return codings.some((each) => isJsonObject(each) && each['system'] === system && each['code'] === code);
}
