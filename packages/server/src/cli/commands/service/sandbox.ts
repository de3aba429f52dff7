/** `praxis sandbox reset`: bring the seeded sandbox back. */
import { type Command, UsageError } from '../../command.ts';
import { buildSandboxPath, readSandbox } from '../../sandbox/credentials.ts';
import { ensureSandbox, resetPractices } from '../../sandbox/ensure.ts';

export const sandboxCommands: readonly Command[] = [
  {
    name: 'sandbox reset',
    summary: 'Reset the sandbox to its seeded data; credentials do not change',
    arguments: [],
    options: {},
    async run(context) {
      const platform = await context.platform();
      const { config } = platform;
      if (config.databaseUrl !== '')
        throw new UsageError('sandbox reset works on the embedded database alone: unset DATABASE_URL');
      const say = (text: string): void => context.progress(`praxis: seeding ${text}\n`);
      if (readSandbox(config.dataDir) !== undefined) await resetPractices(platform, say);
      else if (
        (await ensureSandbox(platform, config.baseUrl || `http://${config.host}:${config.port}`, say)) === undefined
      ) {
        throw new UsageError(
          `nothing was reset: the database holds firms, but ${buildSandboxPath(config.dataDir)}, which a seeded sandbox has, is missing`,
        );
      }
      context.print(`the sandbox is as seeded; credentials: ${buildSandboxPath(config.dataDir)}`);
    },
  },
];
