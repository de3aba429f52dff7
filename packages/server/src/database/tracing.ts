/** The tracer that the settings ask for, and the database that it follows. */
import type { Config } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import type { Tracer } from '../base/tracing/tracer.ts';
import type { Database } from './database.ts';

export interface Traced {
  readonly database: Database;
  /** undefined: nothing is traced. */
  readonly tracer: Tracer | undefined;
}

/** What it takes is loaded where it is asked for alone: elsewhere it would cost each start. */
export async function openTracing(
  { tracesOrigin: origin, tracesPercent: percent }: Pick<Config, 'tracesOrigin' | 'tracesPercent'>,
  database: Database,
  { log, version }: { readonly log: Log; readonly version: string },
): Promise<Traced> {
  if (origin === '') return { database, tracer: undefined };
  const { openTracer } = await import('../base/tracing/tracer.ts');
  const { traceDatabase } = await import('./traced-database.ts');
  const tracer = openTracer({ origin, percent, version, log });
  return { database: traceDatabase(database, tracer), tracer };
}
