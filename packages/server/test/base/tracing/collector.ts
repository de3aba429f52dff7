/** A collector of traces on this machine, by OTLP over HTTP in JSON. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Lifetime } from '../../support/database.ts';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, string>> }[];
  readonly status?: { readonly code: number };
}

export interface Collector {
  readonly origin: string;
  /** Messages as they came. */
  readonly texts: string[];
  /** Status of the next answers; 200 when they are used up. */
  readonly answers: number[];
  spans(): readonly CollectedSpan[];
}

export async function openCollector(t: Lifetime): Promise<Collector> {
  const texts: string[] = [];
  const answers: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const status = answers.shift() ?? 200;
      const isTraces = request.method === 'POST' && request.url === '/v1/traces';
      if (status === 200 && isTraces) texts.push(Buffer.concat(chunks).toString());
      response.writeHead(isTraces ? status : 404, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    texts,
    answers,
    spans: () => texts.flatMap((text) => JSON.parse(text).resourceSpans[0].scopeSpans[0].spans),
  };
}

/** The attributes of a span by their names. */
export function attributesOf({ attributes }: CollectedSpan): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
