/** `praxis serve`: the service, until SIGTERM or SIGINT. */
import type { Command } from '../../command.ts';
import { serve } from '../../serving/serve.ts';

export const serveCommands: readonly Command[] = [
  {
    name: 'serve',
    summary: 'Run the service',
    arguments: [],
    options: {
      sandbox: {
        kind: 'flag',
        description: 'Seed firms, data and credentials if there are none, and print first calls',
      },
    },
    run: (context, input) => serve(context, input.flag('sandbox')),
  },
];
