/**
 * Prometheus metrics on a port of their own: they are for operators, not for callers of the API.
 */
import { createServer } from 'node:http';
import type { Metrics } from '../base/metrics.ts';

/** Serves `GET /metrics`; resolves when it listens. */
export async function openMetricsPage(
  host: string,
  port: number,
  metrics: Metrics,
): Promise<{ close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics' || request.method !== 'GET') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(await metrics.registry.metrics());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
