/** Asking what answers at an address: whether it is Praxis, and how it is. */
import { connect } from 'node:net';

/** Longest wait for a connection or an answer. */
export const probeMaxMs = 3_000;

/** Bytes of an answer that are read. */
const bodyBytesMax = 65_536;

/** Undefined: something listens there. Otherwise the error: `ECONNREFUSED` where nothing does. */
export async function tryToConnect(host: string, port: number): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const socket = connect({ host, port, timeout: probeMaxMs });
    const settle = (result: string | undefined): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => settle(undefined));
    socket.once('timeout', () => settle('ETIMEDOUT'));
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
  });
}

export interface ProbeAnswer {
  readonly status: number;
  /** JSON; undefined for anything else. */
  readonly body: unknown;
}

/** What a GET is answered; undefined when nothing is, or not in time. Redirections are not followed. */
export async function ask(url: string): Promise<ProbeAnswer | undefined> {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(probeMaxMs),
    });
    return { status: response.status, body: await readJson(response) };
  } catch {
    return undefined;
  }
}

async function readJson({ body }: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** What a terminal can be told: anything may answer there. */
const versionPattern = /^[\w.+-]{1,64}$/;

/** The version of the Praxis that answers at an origin, by its front page; undefined: none does. */
export async function askForVersion(origin: string): Promise<string | undefined> {
  const body = (await ask(`${origin}/`))?.body;
  if (typeof body !== 'object' || body === null || Reflect.get(body, 'name') !== 'Praxis') return undefined;
  const version: unknown = Reflect.get(body, 'version');
  return typeof version === 'string' && versionPattern.test(version) ? version : undefined;
}

/** Why the service at an origin would not serve the next request, in its own words; empty: it would. */
export async function askForProblems(origin: string): Promise<readonly string[]> {
  const answer = await ask(`${origin}/health/ready`);
  if (answer === undefined) return ['it does not answer'];
  if (answer.status === 200) return [];
  const problems: unknown =
    typeof answer.body === 'object' && answer.body !== null && Reflect.get(answer.body, 'problems');
  return Array.isArray(problems) ? problems.map(String) : [`it answers ${answer.status}`];
}
