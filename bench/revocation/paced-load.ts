/**
 * Requests on schedule, whether or not others have been answered (an open loop): what is slow does not slow down what is
 * asked next. A latency begins when the request was due, so it counts the wait for a connection, too.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A GET at one of the servers. */
export interface PacedRequest {
  /** Index of the origin. */
  readonly node: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the answer is judged by. */
  readonly about: string;
}

export interface PacedAnswer {
  readonly node: number;
  readonly about: string;
  /** In ms, as performance.now tells. */
  readonly dueAt: number;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** 0: the connection ended without an answer. */
  readonly status: number;
}

export interface PacedLoad {
  /** What was answered so far, in the order of the answers. */
  readonly answers: readonly PacedAnswer[];
  /** Resolves when everything that is due by now is answered, however much became due meanwhile. */
  settled(): Promise<void>;
  /** Ends the schedule, and resolves when everything that was due is answered. */
  stop(): Promise<void>;
}

/** Connections to one server, at most: what is due beyond them waits. */
const connectionsMax = 128;
/** Between two looks at what is answered. */
const lookMs = 5;

interface Due extends PacedRequest {
  readonly dueAt: number;
  /** From 0, in the order in which they are due. */
  readonly number: number;
}

/** What has become of the requests. */
interface Journal {
  readonly answers: PacedAnswer[];
  /** Numbers of requests that were due, the oldest first. */
  readonly unanswered: Set<number>;
}

/** A server, and who waits for it. */
interface Line {
  readonly port: number;
  readonly idle: Connection[];
  readonly waiting: Due[];
  open: number;
}

interface Connection {
  readonly socket: Socket;
  send(due: Due): void;
}

/** @param next the request that is due now */
export function openPacedLoad(origins: readonly string[], perSecond: number, next: () => PacedRequest): PacedLoad {
  const lines: Line[] = origins.map((origin) => ({
    port: Number(new URL(origin).port),
    idle: [],
    waiting: [],
    open: 0,
  }));
  const journal: Journal = { answers: [], unanswered: new Set() };
  const { answers, unanswered } = journal;
  const beganAt = performance.now();
  let count = 0;
  const timer = setInterval(() => {
    for (const until = (performance.now() - beganAt) * (perSecond / 1000); count < until; count += 1) {
      const request = next();
      const line = lines[request.node];
      if (line === undefined) throw new RangeError(`there is no node ${request.node}`);
      unanswered.add(count);
      give(line, { ...request, number: count, dueAt: beganAt + (count * 1000) / perSecond }, journal);
    }
  }, 1);
  return {
    answers,
    async settled() {
      const until = count;
      while ((unanswered.values().next().value ?? until) < until) await delay(lookMs);
    },
    async stop() {
      clearInterval(timer);
      while (answers.length < count) await delay(lookMs);
      for (const { idle } of lines) for (const { socket } of idle) socket.destroy();
    },
  };
}

function give(line: Line, due: Due, journal: Journal): void {
  const connection = line.idle.pop() ?? (line.open < connectionsMax ? newConnection(line, journal) : undefined);
  if (connection === undefined) line.waiting.push(due);
  else connection.send(due);
}

function newConnection(line: Line, { answers, unanswered }: Journal): Connection {
  const socket = connect(line.port, '127.0.0.1');
  let under: (Due & { readonly sentAt: number }) | undefined;
  let received = '';
  line.open += 1;
  socket.setEncoding('latin1');
  socket.setNoDelay();
  const answered = (status: number): void => {
    if (under === undefined) return;
    const { node, about, dueAt, sentAt, number } = under;
    unanswered.delete(number);
    answers.push({ node, about, dueAt, sentAt, answeredAt: performance.now(), status });
    under = undefined;
    received = '';
  };
  const connection: Connection = {
    socket,
    send(due) {
      under = { ...due, sentAt: performance.now() };
      socket.write(textOf(due));
    },
  };
  socket.on('data', (text: string) => {
    received += text;
    const status = statusOf(received);
    if (status === undefined) return;
    answered(status);
    const waiting = line.waiting.shift();
    if (waiting === undefined) line.idle.push(connection);
    else connection.send(waiting);
  });
  socket.on('error', () => undefined); // a close follows
  socket.on('close', () => {
    line.open -= 1;
    answered(0);
    const at = line.idle.indexOf(connection);
    if (at >= 0) line.idle.splice(at, 1);
    const waiting = line.waiting.shift();
    if (waiting !== undefined) give(line, waiting, { answers, unanswered });
  });
  return connection;
}

function textOf({ path, headers }: PacedRequest): string {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** The status of a whole answer; undefined: there is more to come. */
function statusOf(received: string): number | undefined {
  const head = received.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
  const isWhole = length === undefined ? received.endsWith('0\r\n\r\n') : received.length >= head + 4 + Number(length);
  return isWhole ? Number(received.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)) : undefined;
}

export interface PacedFigures {
  /** Requests that were due per second. */
  readonly offered: number;
  /** Answers per second. */
  readonly achieved: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** @param answers of one load, from its beginning */
export function figuresOf(answers: readonly PacedAnswer[]): PacedFigures {
  const first = Math.min(...answers.slice(0, 1000).map(({ dueAt }) => dueAt));
  const last = answers.reduce((latest, { dueAt }) => Math.max(latest, dueAt), first);
  const end = answers.reduce((latest, { answeredAt }) => Math.max(latest, answeredAt), first);
  const latencies = answers.map(({ dueAt, answeredAt }) => answeredAt - dueAt).sort((one, other) => one - other);
  const at = (share: number): number => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN;
  const perSecond = (ms: number): number => (answers.length * 1000) / ms;
  return {
    offered: perSecond(last - first),
    achieved: perSecond(end - first),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
  };
}
