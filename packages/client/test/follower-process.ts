/**
 * A follower as a program of its own, to be killed. It appends each page to a file, as a line of JSON with the break before
 * it, so that a line that a kill has cut off spoils no other; its place is in another file:
 *
 *     node follower-process.ts '{"base":…,"credentials":…,"place":…,"log":…,"count":…,"waitSeconds":…}'
 */
import { appendFileSync } from 'node:fs';
import { type Credentials, connect } from '@praxis/client';
import { makeFileCursor } from '@praxis/client/node';

export interface FollowerTask {
  readonly base: string;
  readonly credentials: Credentials;
  readonly place: string;
  readonly log: string;
  readonly count: number;
  readonly waitSeconds: number;
}

/** A change as the log has it. */
export interface LoggedChange {
  readonly kind: 'saved' | 'deleted';
  readonly name: string;
  readonly versionId: string;
}

if (import.meta.main) {
  const { base, credentials, place, log, count, waitSeconds }: FollowerTask = JSON.parse(process.argv[2] ?? '');
  const praxis = connect({ base, credentials });
  for await (const { changes } of praxis.follow({ cursor: makeFileCursor(place), count, waitSeconds })) {
    const page = changes.map(
      ({ kind, type, id, versionId }): LoggedChange => ({ kind, name: `${type}/${id}`, versionId }),
    );
    appendFileSync(log, `\n${JSON.stringify(page)}`);
  }
}
