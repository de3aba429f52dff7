/** `praxis signing-key …`: changing the key that signs a realm's tokens, without a request that fails. */
import {
  activateSigningKey,
  listSigningKeys,
  publishSigningKey,
  retireSigningKey,
} from '../../../oauth/signing/signing-key-rotation.ts';
import type { Command, OptionSpec } from '../../command.ts';
import { dateTime, printTable } from '../../options.ts';

const realmOption = {
  realm: { kind: 'value', description: 'The realm', default: 'sandbox' },
} as const satisfies Record<string, OptionSpec>;

const forceOption = {
  force: { kind: 'flag', description: 'Do not wait for what others have cached; some requests may fail' },
} as const satisfies Record<string, OptionSpec>;

export const signingKeyCommands: readonly Command[] = [
  {
    name: 'signing-key list',
    summary: 'List the signing keys of a realm',
    arguments: [],
    options: realmOption,
    async run(context, input) {
      const { database } = await context.platform();
      const keys = await listSigningKeys(database, input.required('realm'));
      printTable(
        context,
        ['KEY', 'STATE', 'SINCE', 'CREATED'],
        keys.map(({ kid, state, stateSinceMs, createdAtMs }) => [
          kid,
          state,
          dateTime(stateSinceMs),
          dateTime(createdAtMs),
        ]),
      );
    },
  },
  {
    name: 'signing-key publish',
    summary: 'Make the next signing key and publish it; it signs nothing yet',
    arguments: [],
    options: realmOption,
    async run(context, input) {
      const kid = await publishSigningKey(await context.platform(), input.required('realm'));
      context.print(`signing key ${kid} is published`);
    },
  },
  {
    name: 'signing-key activate',
    summary: 'Let the published key sign; the one before it goes on verifying',
    arguments: [],
    options: { ...realmOption, ...forceOption },
    async run(context, input) {
      const kid = await activateSigningKey(await context.platform(), input.required('realm'), input.flag('force'));
      context.print(`signing key ${kid} signs`);
    },
  },
  {
    name: 'signing-key retire',
    summary: 'End a key that no longer signs; with --force also the tokens that it signed, with the next statement',
    arguments: ['KEY'],
    options: { ...realmOption, ...forceOption },
    async run(context, input) {
      const platform = await context.platform();
      await retireSigningKey(platform, input.required('realm'), input.argument(0), input.flag('force'));
      context.print(`signing key ${input.argument(0)} is retired`);
    },
  },
];
