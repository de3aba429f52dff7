/**
 * One statement on a pipelined connection, with the firm's setting before it where needed, as one unit of the extended
 * query protocol (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING):
 *
 *     [Bind, Execute set_config('praxis.firm', …)] [the same of 'statement_timeout'] [Parse] Bind [Describe] Execute  Sync
 *
 * After an error the server skips everything up to Sync, so when the setting fails the statement does not run; when the
 * statement fails the setting is rolled back with it.
 *
 * pg sends pipelined queries only as instances of its own Query class, hence the subclass; pg is pinned to one version and
 * test/database/pool/pipelined-query.test.ts notices when these internals change.
 */
import type { Duplex } from 'node:stream';
import pg from 'pg';
import type { Sql } from '../sql.ts';
import { type Columns, copyColumns, type KnownColumns } from './known-columns.ts';
import { areTexts, toParameterTexts } from './parameter-texts.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Called once: with an error, or with the rows. */
export type Settle = (error: unknown, rows: Row[]) => void;

/** Statement that every connection prepares first: name, text. Whether the setting lasts is its second parameter. */
export const firmSetting = { name: 'praxis_firm', text: "SELECT set_config('praxis.firm', $1, $2)" } as const;

/** The same for a statement timeout of one segment. The server starts the time of each command anew. */
export const timeoutSetting = {
  name: 'praxis_timeout',
  text: "SELECT set_config('statement_timeout', $1, true)",
} as const;

export interface FirmPlan {
  readonly value: string;
  /** For this segment only. */
  readonly once: boolean;
}

export interface PipelinedPlan {
  readonly statement: Sql;
  /** Name to prepare the statement under; undefined runs it unprepared. */
  readonly name: string | undefined;
  /** Name of a prepared statement to give up in exchange. */
  readonly evict: string | undefined;
  /** To set before the statement; undefined leaves it as it is. */
  readonly firm: FirmPlan | undefined;
  /** Instead of the session's statement timeout. */
  readonly timeoutMs: number | undefined;
  /** Of what the connection has prepared. */
  readonly columns: KnownColumns;
  readonly settle: Settle;
}

/** The parts of pg's connection that a segment uses. */
export interface Wire {
  readonly stream: Duplex;
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  bind(message: {
    portal: string;
    statement: string;
    values: readonly (string | null)[];
    valueMapper: undefined;
  }): void;
  describe(message: { type: 'P' }): void;
  execute(message: { portal: string; rows: number }): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
}

interface DriverQuery {
  name: string | undefined;
  queryMode: 'extended' | undefined;
  /** Reads rows once their columns were described. */
  readonly _result: Columns & { parseRow(fields: unknown): Row };
  _accumulateRows: unknown;
  submit(wire: Wire): Error | null;
  prepare(wire: Wire): void;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: Wire): void;
  handleError(error: unknown, wire: Wire): void;
  handleReadyForQuery(wire: Wire): void;
}

type Callback = (error: unknown, result: { readonly rows: Row[] } | undefined) => void;

/** pg's types declare `submit` as a property and hide the handlers; this is the class as it is. */
export const BaseQuery = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[],
  callback: Callback,
) => DriverQuery;

export class PipelinedQuery extends BaseQuery {
  readonly #plan: PipelinedPlan;
  /** While there are any, what arrives answers a setting and not the statement. */
  #awaitedSettings: number;

  constructor(plan: PipelinedPlan) {
    const { statement, name } = plan;
    // Not as a configuration object: pg would copy its property descriptors, which takes longer than all the rest.
    super(statement.text, statement.values, once(plan.settle));
    this.name = name;
    this.queryMode = 'extended';
    this.#plan = plan;
    this.#awaitedSettings = Number(plan.firm !== undefined) + Number(plan.timeoutMs !== undefined);
  }

  /** Writes the segment; pg calls it. */
  override submit(wire: Wire): Error | null {
    const { evict, firm, timeoutMs } = this.#plan;
    if (evict !== undefined) {
      wire.close({ type: 'S', name: evict });
      delete wire.parsedStatements[evict];
      delete wire.submittedNamedStatements[evict];
      this.#plan.columns.delete(evict);
    }
    if (firm !== undefined) sendFirm(wire, firm);
    if (timeoutMs !== undefined) sendSetting(wire, timeoutSetting.name, [String(timeoutMs)]);
    return super.submit(wire);
  }

  /** Writes the statement; pg calls it. */
  override prepare(wire: Wire): void {
    const { name, columns, statement } = this.#plan;
    const known = name === undefined ? undefined : columns.get(name);
    if (name === undefined || known === undefined || !areTexts(statement.values)) {
      super.prepare(wire);
      return;
    }
    Object.assign(this._result, known);
    this._accumulateRows = true;
    wire.bind({ portal: '', statement: name, values: toParameterTexts(statement.values), valueMapper: undefined });
    wire.execute({ portal: '', rows: 0 });
    wire.sync();
  }

  override handleRowDescription(message: unknown): void {
    super.handleRowDescription(message);
    const { name, columns } = this.#plan;
    if (name !== undefined) columns.set(name, copyColumns(this._result));
  }

  override handleDataRow(message: unknown): void {
    if (this.#awaitedSettings === 0) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (this.#awaitedSettings > 0) this.#awaitedSettings -= 1;
    else super.handleCommandComplete(message, wire);
  }
}

/** Writes the firm's setting; what follows up to Sync runs only when it succeeds. */
export function sendFirm(wire: Wire, { value, once: isOnce }: FirmPlan): void {
  sendSetting(wire, firmSetting.name, [value, isOnce ? 't' : 'f']);
}

function sendSetting(wire: Wire, statement: string, values: readonly string[]): void {
  wire.bind({ portal: '', statement, values, valueMapper: undefined });
  wire.execute({ portal: '', rows: 0 });
}

/** pg may report an error while binding and then the end of the same query: only the first counts. */
function once(settle: Settle): Callback {
  let settled = false;
  return (error, result) => {
    if (settled) return;
    settled = true;
    if (error === null || error === undefined) settle(undefined, result?.rows ?? []);
    else settle(error, []);
  };
}
