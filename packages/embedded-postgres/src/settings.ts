/**
 * Settings of the embedded server (https://www.postgresql.org/docs/current/runtime-config.html), given on its command line,
 * so that no file can change them.
 */
import { createHash } from 'node:crypto';
import type { Application } from './application.ts';

/** `full`: what has been acknowledged survives a crash. `none` is for tests that do not test exactly that. */
export type Durability = 'full' | 'none';

const fixedSettings: Readonly<Record<string, string>> = {
  max_connections: '100',
  shared_buffers: '128MB',
  effective_cache_size: '1GB',
  maintenance_work_mem: '64MB',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
  // Statements here take milliseconds; compiling them takes longer.
  jit: 'off',
  password_encryption: 'scram-sha-256',
  TimeZone: 'UTC',
  log_timezone: 'UTC',
  // One file per weekday, overwritten a week later. Neither statements nor the details of errors, which quote values.
  logging_collector: 'on',
  log_filename: 'postgres-%a.log',
  log_rotation_age: '1d',
  log_rotation_size: '0',
  log_truncate_on_rotation: 'on',
  log_file_mode: '0600',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
};

/** Name under which the server says what it was started with; see `computeSettingsMark`. */
export function markSetting({ name }: Application): string {
  return `${name}.settings`;
}

/** The settings that do not depend on the place. */
export function buildSettings(durability: Durability): Readonly<Record<string, string>> {
  const durable = durability === 'full' ? 'on' : 'off';
  return { ...fixedSettings, fsync: durable, synchronous_commit: durable, full_page_writes: durable };
}

/** Tells whether a running server has the settings, and the version, that this program would start it with. */
export function computeSettingsMark(durability: Durability, serverVersion: string): string {
  return createHash('sha256')
    .update(JSON.stringify([serverVersion, buildSettings(durability)]))
    .digest('hex')
    .slice(0, 16);
}
