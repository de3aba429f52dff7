/** `praxis client …`: what a client proves itself with, secrets and public keys. */
import { readFileSync } from 'node:fs';
import type { Platform } from '../../../app.ts';
import { type ClientKeySet, readKeySet, setClientKeys } from '../../../oauth/client-auth/client-keys.ts';
import { addClientSecret, endClientSecret, listClientSecrets } from '../../../oauth/client-auth/client-secrets.ts';
import { requireRemoteUrl } from '../../../oauth/client-auth/remote-document.ts';
import { openRemoteKeys } from '../../../oauth/client-auth/remote-keys.ts';
import { type Command, type CommandInput, UsageError } from '../../command.ts';
import { applicationOf, dateTime, environmentOption, lastUse, printOnce, printTable } from '../../options.ts';

export const clientCredentialCommands: readonly Command[] = [
  {
    name: 'client jwks',
    summary:
      'Register the public keys that a client signs its assertions with; tokens of keys that it has no longer end',
    arguments: ['APPLICATION', 'CLIENT'],
    options: {
      ...environmentOption,
      file: { kind: 'value', description: 'JWK Set that is stored' },
      uri: { kind: 'value', description: 'Where the client publishes its JWK Set; fetched when it is needed' },
      remove: { kind: 'flag', description: 'Take the keys away' },
    },
    async run(context, input) {
      const platform = await context.platform();
      const keys = await requestedKeys(platform, input);
      const application = await applicationOf(platform, input, input.argument(0));
      await setClientKeys(platform.database, application, input.argument(1), keys?.registered);
      const kids = keys === undefined ? 'no keys' : `keys ${keys.set.keys.map(({ kid }) => kid).join(', ')}`;
      context.print(`client ${input.argument(1)}: ${kids}`);
    },
  },
  {
    name: 'client secrets',
    summary: 'List the secrets of a client and when they were last used',
    arguments: ['APPLICATION', 'CLIENT'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const application = await applicationOf(platform, input, input.argument(0));
      const secrets = await listClientSecrets(platform.database, application, input.argument(1));
      printTable(
        context,
        ['ID', 'STATE', 'CREATED', 'LAST USED'],
        secrets.map((secret) => [
          String(secret.id),
          secret.state,
          dateTime(secret.createdAtMs),
          lastUse(secret.lastUsedAtMs),
        ]),
      );
    },
  },
  {
    name: 'client add-secret',
    summary: 'Make another secret of a client; two may be live',
    arguments: ['APPLICATION', 'CLIENT'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const application = await applicationOf(platform, input, input.argument(0));
      const issued = await addClientSecret(platform.database, platform.secrets, application, input.argument(1));
      printOnce(context, { id: String(issued.id), client_secret: issued.clientSecret });
    },
  },
  {
    name: 'client retire-secret',
    summary: 'Refuse a secret of a client; tokens that were got with it live on to their end',
    arguments: ['APPLICATION', 'CLIENT', 'ID'],
    options: {
      ...environmentOption,
      revoke: {
        kind: 'flag',
        description: 'End those tokens, too, with the next statement: for a secret that has become known',
      },
    },
    async run(context, input) {
      const platform = await context.platform();
      const id = Number(input.argument(2));
      if (!Number.isSafeInteger(id) || id < 1)
        throw new UsageError('ID must be a number that praxis client secrets shows');
      const application = await applicationOf(platform, input, input.argument(0));
      const end = input.flag('revoke') ? 'revoked' : 'retired';
      await endClientSecret(platform.database, application, input.argument(1), id, end);
      context.print(`secret ${id} is ${end}`);
    },
  },
];

interface RequestedKeys {
  readonly registered: { readonly jwks: ClientKeySet } | { readonly jwksUri: string };
  readonly set: ClientKeySet;
}

/** The keys that the command line names, read once, so that a mistake is found now and not at the first token request. */
async function requestedKeys(platform: Platform, input: CommandInput): Promise<RequestedKeys | undefined> {
  const file = input.option('file');
  const uri = input.option('uri');
  const given = [file !== undefined, uri !== undefined, input.flag('remove')].filter(Boolean).length;
  if (given !== 1) throw new UsageError('give one of --file, --uri and --remove');
  if (file !== undefined) {
    const set = requireSet(readKeySet(readJson(file)));
    return { registered: { jwks: set }, set };
  }
  if (uri === undefined) return undefined;
  const remote = { loopback: platform.config.jwksLoopback };
  try {
    requireRemoteUrl(uri, remote);
  } catch (cause) {
    throw new UsageError(`--uri ${cause instanceof Error ? cause.message : ''}`, { cause });
  }
  const set = requireSet(await openRemoteKeys(platform.clock, remote).at(uri, undefined));
  return { registered: { jwksUri: uri }, set };
}

function requireSet(set: ClientKeySet | { readonly problem: string }): ClientKeySet {
  if ('problem' in set) throw new UsageError(set.problem);
  return set;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new UsageError(`${file} cannot be read as JSON`, { cause });
  }
}
