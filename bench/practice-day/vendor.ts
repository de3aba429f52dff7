/**
 * An application of a vendor as a caller: it keeps connections, which all its practices share, and a token.
 */
import { type Call, Line, type WholeAnswer } from '../service/line.ts';
import type { Credentials } from './installations.ts';

export interface Vendor {
  readonly name: string;
  /** The answer, as soon as a connection is free. */
  exchange(call: Call): Promise<WholeAnswer>;
  /** Asks for a token; the next requests have it. */
  renew(): Promise<WholeAnswer>;
  /** Headers of requests without a body, and with one. */
  headers(): Call['headers'];
  headersWithBody(): Call['headers'];
  /** Requests that were sent again since the connection had ended. */
  repeated(): number;
  close(): void;
}

/** Requests that wait for a connection, at most: with more, the service does not keep up at all. */
const waitingMax = 5_000;
const answerMaxMs = 30_000;
const formType = 'application/x-www-form-urlencoded';

/** @param connectionsMax requests under way at once; others wait */
export function openVendor(
  origin: string,
  name: string,
  { apiKey, clientId, clientSecret }: Credentials,
  connectionsMax: number,
): Vendor {
  const idle: Line[] = [];
  const waiting: ((line: Line) => void)[] = [];
  const lines = new Set<Line>();
  let repetitions = 0;
  let headers: Call['headers'] = {};
  let headersWithBody: Call['headers'] = {};
  const take = async (): Promise<Line> => {
    const line = idle.pop();
    if (line !== undefined) return line;
    if (lines.size < connectionsMax) {
      const opened = new Line(origin);
      lines.add(opened);
      return opened;
    }
    if (waiting.length >= waitingMax) throw new Error('too many requests wait for a connection');
    return await new Promise((resolve) => waiting.push(resolve));
  };
  const giveBack = (line: Line): void => {
    const next = waiting.shift();
    if (next === undefined) idle.push(line);
    else next(line);
  };
  const exchange = async (call: Call): Promise<WholeAnswer> => {
    const line = await take();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      line.close();
    }, answerMaxMs);
    try {
      return await line.exchange(call);
    } catch (error) {
      // The connection may have been closed for its rest just when the request was sent (RFC 9110, 9.2.2).
      if (call.method !== 'GET' || isLate) throw error;
      repetitions += 1;
      return await line.exchange(call);
    } finally {
      clearTimeout(timer);
      giveBack(line);
    }
  };
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const issue: Call = {
    method: 'POST',
    path: '/auth/realms/sandbox/protocol/openid-connect/token',
    headers: { 'content-type': formType, 'x-api-key': apiKey },
    body: new URLSearchParams(form).toString(),
  };
  return {
    name,
    exchange,
    async renew() {
      const answer = await exchange(issue);
      if (answer.status !== 200) return answer;
      headers = { authorization: `Bearer ${JSON.parse(answer.body).access_token}`, 'x-api-key': apiKey };
      headersWithBody = { ...headers, 'content-type': 'application/fhir+json' };
      return answer;
    },
    headers: () => headers,
    headersWithBody: () => headersWithBody,
    repeated: () => repetitions,
    close() {
      for (const line of lines) line.close();
      lines.clear();
      idle.length = 0;
    },
  };
}
