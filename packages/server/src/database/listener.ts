/**
 * Notifications between processes (https://www.postgresql.org/docs/current/sql-notify.html), for rare administrative changes
 * only: a commit that notifies takes a lock that all such commits share. One connection listens for the whole process.
 */
import pg from 'pg';
import type { Log } from '../base/log.ts';

/**
 * Called with each payload; with `undefined` after the connection was lost and made again, since notifications may have
 * been missed meanwhile: read again what they would have told.
 */
export type NotificationHandler = (payload: string | undefined) => void;

export interface Listener {
  /** Resolves when the listening is in force. The result ends it. */
  listen(channel: string, handler: NotificationHandler): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

const reconnectDelayMs = 500;

/** A listener that connects when the first channel is listened to, and again whenever the connection is lost. */
export function openListener(config: pg.ClientConfig, log: Log): Listener {
  const handlers = new Map<string, Set<NotificationHandler>>();
  let client: Promise<pg.Client> | undefined;
  let closed = false;

  const connect = async (): Promise<pg.Client> => {
    const made = new pg.Client(config);
    made.on('error', () => undefined); // 'end' follows
    await made.connect();
    made.on('notification', ({ channel, payload }) => {
      for (const handler of handlers.get(channel) ?? []) handler(payload ?? '');
    });
    made.on('end', () => {
      client = undefined;
      if (!closed && handlers.size > 0) reconnect();
    });
    for (const channel of handlers.keys()) await made.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    return made;
  };

  const reconnect = (): void => {
    setTimeout(async () => {
      if (closed || client !== undefined) return;
      client = connect();
      try {
        await client;
        for (const channel of handlers.values()) for (const handler of channel) handler(undefined);
      } catch (error) {
        client = undefined;
        log.warn({ err: error }, 'database notifications cannot be received, trying again');
        reconnect();
      }
    }, reconnectDelayMs).unref();
  };

  const connected = async (): Promise<pg.Client> => {
    client ??= connect();
    try {
      return await client;
    } catch (error) {
      client = undefined;
      throw error;
    }
  };

  return {
    async listen(channel, handler) {
      const known = handlers.get(channel) ?? new Set();
      handlers.set(channel, known.add(handler));
      await (await connected()).query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      return async () => {
        known.delete(handler);
        if (known.size > 0) return;
        handlers.delete(channel);
        if (!closed) await (await client)?.query(`UNLISTEN ${pg.escapeIdentifier(channel)}`);
      };
    },
    async close() {
      closed = true;
      handlers.clear();
      await (await client?.catch(() => undefined))?.end();
    },
  };
}
