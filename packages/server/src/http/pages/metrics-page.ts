/**
 * Prometheus metrics on a port of their own: they are for operators, not for callers of the API.
 */
import { createServer } from 'node:http';
import { buildSecurityHeaders } from '../security-headers.ts';

/** TLS does not end before this page. */
const headers = buildSecurityHeaders({ hstsSeconds: 0 });

export interface MetricsPage {
  /** Where it listens, `http://127.0.0.1:9464`. */
  readonly origin: string;
  close(): Promise<void>;
}

/** What the page shows (https://prometheus.io/docs/instrumenting/exposition_formats/). */
export interface MetricsText {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/**
 * Serves `GET /metrics`; resolves when it listens.
 * @param port 0 takes a free one
 */
export async function openMetricsPage(host: string, port: number, page: MetricsText): Promise<MetricsPage> {
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics' || request.method !== 'GET') return void response.writeHead(404, headers).end();
    try {
      const text = await page.metrics();
      response.writeHead(200, { ...headers, 'content-type': page.contentType }).end(text);
    } catch {
      response.writeHead(500, headers).end();
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const listening = typeof address === 'object' && address !== null ? address.port : port;
  return {
    origin: `http://${host}:${listening}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
