/** `praxis client …`: clients of the client-credentials flow; their secrets and keys are in client-credentials.ts. */
import { issueClient, issueKeyedClient, listClients, revokeClient } from '../../../oauth/client-auth/clients.ts';
import type { Command } from '../../command.ts';
import { applicationOf, dateTime, environmentOption, printOnce, printTable } from '../../options.ts';

export const clientCommands: readonly Command[] = [
  {
    name: 'client issue',
    summary: 'Make a client id and secret of an application',
    arguments: ['APPLICATION'],
    options: {
      ...environmentOption,
      'without-secret': { kind: 'flag', description: 'For a client that signs with its own key: see client jwks' },
    },
    async run(context, input) {
      const platform = await context.platform();
      if (input.flag('without-secret')) {
        const application = await applicationOf(platform, input, input.argument(0));
        context.print(`client_id: ${await issueKeyedClient(platform.database, application)}`);
        return;
      }
      const issued = await issueClient(
        platform.database,
        platform.secrets,
        await applicationOf(platform, input, input.argument(0)),
      );
      printOnce(context, { client_id: issued.clientId, client_secret: issued.clientSecret });
    },
  },
  {
    name: 'client list',
    summary: 'List the clients of an application',
    arguments: ['APPLICATION'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const clients = await listClients(platform.database, await applicationOf(platform, input, input.argument(0)));
      printTable(
        context,
        ['CLIENT', 'STATE', 'SECRETS', 'KEYS', 'CREATED'],
        clients.map((client) => [
          client.clientId,
          client.state,
          String(client.secrets),
          client.keys ?? '-',
          dateTime(client.createdAtMs),
        ]),
      );
    },
  },
  {
    name: 'client revoke',
    summary: 'Refuse a client and its tokens from the next statement on',
    arguments: ['APPLICATION', 'CLIENT'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      await revokeClient(platform.database, await applicationOf(platform, input, input.argument(0)), input.argument(1));
      context.print(`client ${input.argument(1)} is revoked`);
    },
  },
];
