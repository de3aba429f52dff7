/** What there is of an embedded database, for who only looks: nothing is made, started or changed. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Application } from './application.ts';
import { readCredentials } from './create.ts';
import { resolveLayout } from './layout.ts';
import { lookForPostmaster } from './lock-file.ts';
import { buildServerConnection, type ServerConnection } from './presence.ts';

export type EmbeddedState =
  /** It was never started. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly owner: ServerConnection; readonly runtime: ServerConnection };

/** @throws ServerError when the passwords of its roles cannot be read */
export function lookAtEmbeddedPostgres(options: {
  readonly application: Application;
  readonly dataDir: string;
}): EmbeddedState {
  const layout = resolveLayout(path.join(options.dataDir, 'postgres'));
  if (!existsSync(layout.root)) return { kind: 'absent' };
  const credentials = readCredentials(layout, options.application);
  const postmaster = lookForPostmaster(layout);
  if (postmaster === undefined) return { kind: 'stopped' };
  if (!postmaster.ready) return { kind: 'starting' };
  const connect = (role: 'owner' | 'runtime'): ServerConnection =>
    buildServerConnection(postmaster, credentials, options.application, role);
  return { kind: 'running', owner: connect('owner'), runtime: connect('runtime') };
}
