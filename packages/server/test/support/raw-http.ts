/**
 * HTTP that `fetch` cannot send: another Host, a header twice, a body with a GET, a request line that is not valid.
 */
import http from 'node:http';
import net from 'node:net';
import { type Answer, toAnswer } from './service.ts';

export interface RawRequest {
  readonly method?: string;
  /** A list sends the header once for each value. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
}

/** Sends a request to `url`, whose path and query go out as they are written. */
export function request(url: string, { method = 'GET', headers = {}, body }: RawRequest = {}): Promise<Answer> {
  const [, host = '', port = '', target = '/'] = /^http:\/\/([^:/]+):(\d+)(\/.*)?$/.exec(url) ?? [];
  const lines = Object.entries(headers).map(([name, value]): [string, string | string[]] => [
    name,
    typeof value === 'string' ? value : [...value],
  ]);
  return new Promise((resolve, reject) => {
    const sent = http.request({ host, port, path: target, method, headers: Object.fromEntries(lines), agent: false });
    sent.once('error', reject);
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const received = new Headers();
        for (const [name, values] of Object.entries(response.headersDistinct)) {
          for (const value of values ?? []) received.append(name, value);
        }
        resolve(toAnswer(response.statusCode ?? 0, received, Buffer.concat(chunks).toString()));
      });
    });
    sent.end(body);
  });
}

/** Writes bytes to the service's socket and returns what it answered before it closed the connection. */
export function exchange(origin: string, bytes: string | Uint8Array): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(bytes));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('error', reject);
    socket.once('end', () => resolve(parseAnswer(Buffer.concat(chunks).toString())));
  });
}

/** A whole answer with `Connection: close`; a chunked body is not taken apart. */
function parseAnswer(text: string): Answer {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
  return toAnswer(Number(statusLine.split(' ')[1]), headers, text.slice(end + 4));
}
