/**
 * Prometheus metrics on a port of their own: they are for operators, not for callers of the API.
 */
import { createServer } from 'node:http';
import type { Metrics } from '../base/metrics.ts';

export interface MetricsPage {
  /** Where it listens, `http://127.0.0.1:9464`. */
  readonly origin: string;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics`; resolves when it listens.
 * @param port 0 takes a free one
 */
export async function openMetricsPage(host: string, port: number, metrics: Metrics): Promise<MetricsPage> {
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics' || request.method !== 'GET') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(await metrics.registry.metrics());
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
