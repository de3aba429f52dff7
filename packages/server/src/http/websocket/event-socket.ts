/**
 * A websocket (https://www.rfc-editor.org/rfc/rfc6455) as those who send events see it: one text at a time, which is taken when the
 * client has answered the ping behind it. Frames are read in order, so the text has come to the client then.
 */
import type { WebSocket } from 'ws';
import type { EventSocket } from '../../practice/subscriptions/sockets/bindings.ts';

/** After a close frame, a connection whose client does not answer it is cut. */
const closingMs = 2_000;

/** The longest reason that fits into a close frame, in bytes. */
const reasonBytesMax = 123;

/** @param onClosing called when it is closed from here, and perhaps again: what it was bound to is free from then on */
export function openEventSocket(socket: WebSocket, onClosing: () => void): EventSocket {
  let pings = 0;
  let last: Promise<unknown> = Promise.resolve();

  const write = async (text: string, timeoutMs: number): Promise<boolean> => {
    if (socket.readyState !== socket.OPEN) return false;
    const name = `event ${++pings}`;
    const answered = Promise.withResolvers<boolean>();
    const hear = (data: Buffer): void => {
      if (data.toString() === name) answered.resolve(true);
    };
    const end = (): void => answered.resolve(false);
    const limit = setTimeout(end, timeoutMs);
    socket.on('pong', hear).once('close', end);
    if (text !== '') socket.send(text);
    socket.ping(name);
    try {
      return await answered.promise;
    } finally {
      clearTimeout(limit);
      socket.off('pong', hear).off('close', end);
    }
  };

  return {
    deliver(text, timeoutMs) {
      const delivered = last.then(() => write(text, timeoutMs));
      last = delivered;
      return delivered;
    },
    close(code, reason) {
      socket.close(code, Buffer.from(reason).subarray(0, reasonBytesMax).toString());
      setTimeout(() => socket.terminate(), closingMs).unref();
      onClosing();
    },
  };
}
