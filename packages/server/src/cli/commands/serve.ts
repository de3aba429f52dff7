/** `praxis serve`: the service, until SIGTERM or SIGINT. */
import { type Service, startService } from '../../app.ts';
import type { Config } from '../../base/config.ts';
import { type MetricsPage, openMetricsPage } from '../../http/metrics-page.ts';
import type { Command } from '../command.ts';
import { ensureSandbox } from '../sandbox/ensure.ts';
import { firstCalls } from '../sandbox/first-calls.ts';

export const serveCommands: readonly Command[] = [
  {
    name: 'serve',
    summary: 'Run the service',
    arguments: [],
    options: {
      sandbox: {
        kind: 'flag',
        description: 'Seed firms, data and credentials if there are none, and show first calls',
      },
    },
    async run(context, input) {
      const stopped = stopSignal(); // from now on, so that a signal during the start drains, too
      const platform = await context.platform();
      const { config, log } = platform;
      const expected = config.baseUrl || `http://${config.host}:${config.port}`;
      const sandbox = input.flag('sandbox')
        ? await ensureSandbox(platform, expected, (text) => context.progress(`praxis: seeding ${text}\n`))
        : undefined;
      const service = await startService(platform);
      const metrics = await openMetrics(config, service);
      if (input.flag('sandbox') && sandbox === undefined) {
        context.print('no sandbox: the database holds firms already, and no sandbox.json names credentials for them');
      }
      context.print(`praxis ready on ${service.origin}`);
      if (sandbox !== undefined) {
        const origin = config.baseUrl || service.origin;
        context.print(`credentials of the sandbox: ${config.dataDir}/sandbox.json; try:\n`);
        for (const call of firstCalls({ ...sandbox, origin })) context.print(`${call}\n`);
      }
      const signal = await stopped;
      log.info({ signal }, 'draining');
      await Promise.all([service.drain(), metrics?.close()]);
    },
  },
];

/** The page of metrics where one is wanted; without it, nothing is left running that would keep the process alive. */
async function openMetrics(config: Config, service: Service): Promise<MetricsPage | undefined> {
  if (config.metricsPort === 0) return undefined;
  try {
    return await openMetricsPage(config.host, config.metricsPort, service.parts.metrics);
  } catch (error) {
    await service.drain();
    throw error;
  }
}

/** Signals within this time of the first are repetitions of it. */
const repeatedSignalMs = 1000;

/** Resolves at the first signal to stop; a second one ends the process at once. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    const stop = (signal: NodeJS.Signals): void => {
      firstMs ??= performance.now();
      resolve(signal);
      // A signal to the process group comes from npm and the launcher, too: that is one wish to stop, not two.
      if (performance.now() - firstMs > repeatedSignalMs) process.exit(1);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}
