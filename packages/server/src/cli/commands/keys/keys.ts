/** `praxis key …`: API keys, one kind per flow. */
import { type Flow, issueApiKey, listApiKeys, revokeApiKey } from '../../../oauth/client-auth/api-keys.ts';
import { type Command, UsageError } from '../../command.ts';
import { applicationOf, dateTime, environmentOption, lastUse, printOnce, printTable } from '../../options.ts';

export const keyCommands: readonly Command[] = [
  {
    name: 'key issue',
    summary: 'Make an API key of an application for one flow; two may be live',
    arguments: ['APPLICATION'],
    options: {
      ...environmentOption,
      flow: { kind: 'value', required: true, description: 'legacy or client' },
      label: { kind: 'value', description: 'What people call it', default: 'key' },
    },
    async run(context, input) {
      const platform = await context.platform();
      const application = await applicationOf(platform, input, input.argument(0));
      const issued = await issueApiKey(
        platform.database,
        platform.secrets,
        application,
        requireFlow(input.required('flow')),
        input.required('label'),
      );
      printOnce(context, { id: String(issued.id), 'x-api-key': issued.apiKey });
    },
  },
  {
    name: 'key list',
    summary: 'List the API keys of an application',
    arguments: ['APPLICATION'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const keys = await listApiKeys(platform.database, await applicationOf(platform, input, input.argument(0)));
      printTable(
        context,
        ['ID', 'FLOW', 'LABEL', 'STATE', 'CREATED', 'LAST USED'],
        keys.map((key) => [
          String(key.id),
          key.flow,
          key.label,
          key.state,
          dateTime(key.createdAtMs),
          lastUse(key.lastUsedAtMs),
        ]),
      );
    },
  },
  {
    name: 'key revoke',
    summary: 'Refuse an API key from the next statement on',
    arguments: ['APPLICATION', 'ID'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const id = Number(input.argument(1));
      if (!Number.isSafeInteger(id) || id < 1) throw new UsageError('ID must be a number that praxis key list shows');
      await revokeApiKey(platform.database, await applicationOf(platform, input, input.argument(0)), id);
      context.print(`key ${id} is revoked`);
    },
  },
];

function requireFlow(text: string): Flow {
  if (text === 'legacy' || text === 'client') return text;
  throw new UsageError('--flow must be legacy or client');
}
