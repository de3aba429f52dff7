/**
 * What the floor has to know: the bench writes it to a file, whose path the floor finds in its environment.
 */
import type pg from 'pg';

/** Name of the variable that holds the path. */
export const planVariable = 'FLOOR_PLAN';

export interface FloorPlan {
  readonly database: pg.ClientConfig;
  readonly firm: number;
  readonly firmPrefix: string;
  /** By which `/token` and `/refresh` know their caller. */
  readonly clientSecret: string;
  readonly refreshToken: string;
  readonly username: string;
  /** Number of the type Patient. */
  readonly patientType: number;
  readonly answers: readonly PlannedAnswer[];
  readonly writes: readonly PlannedWrite[];
  readonly updates: readonly PlannedUpdate[];
}

/** A statement as it is prepared, under a name. */
export interface PlannedStatement {
  readonly name: string;
  readonly text: string;
}

/** GET `path`: the statement runs, then `body` is sent. */
export interface PlannedAnswer {
  readonly path: string;
  readonly statement: PlannedStatement;
  readonly values: readonly unknown[];
  /** That the statement finds. */
  readonly rows: number;
  readonly body: string;
}

/** Parts of a value: texts, and places of ids that stand between them. */
export type Template = readonly (string | number)[];

/** A statement that writes, for ids that are made each time. */
export interface WriteStatement extends PlannedStatement {
  readonly values: readonly Template[];
}

/** POST `path`: the statement writes for new ids, then `body` is sent. */
export interface PlannedWrite {
  readonly path: string;
  readonly status: number;
  readonly statement: WriteStatement;
  /** Ids that it writes for. */
  readonly ids: number;
  readonly body: string;
}

/** PUT `path`/id: the statements write for the id, one and the other in turns, then `body` is sent. */
export interface PlannedUpdate {
  readonly path: string;
  readonly ids: readonly string[];
  /** Makes the resource of an id, when the floor begins. */
  readonly create: WriteStatement;
  readonly turns: readonly [WriteStatement, WriteStatement];
  readonly body: string;
}

/** The values for these ids. */
export function fillTemplates(templates: readonly Template[], ids: readonly string[]): string[] {
  return templates.map((template) => {
    let value = '';
    for (const part of template) value += typeof part === 'number' ? ids[part] : part;
    return value;
  });
}
