/** `praxis listen`: events of a practice, on the machine of a developer. */
import type { Config } from '../../../base/config.ts';
import { createWebhookSecret, parseWebhookSecret } from '../../../outbound/webhook-signature.ts';
import { findTopic, topics } from '../../../practice/subscriptions/topics.ts';
import { type Command, type CommandInput, UsageError } from '../../command.ts';
import { listen } from '../../listening/listen.ts';
import { type ListenerCredentials, openServiceCaller } from '../../listening/service-caller.ts';
import { makeSubscription, removeSubscriptions } from '../../listening/subscribing.ts';
import { readSandbox, type SandboxEnvironment } from '../../sandbox/credentials.ts';

export const listenCommands: readonly Command[] = [
  {
    name: 'listen',
    summary: 'Hand the events of a practice to a program on this machine',
    description:
      'Subscribes by websocket, so that no address of this machine has to be open, and posts each notification to the URL, signed as those of rest-hook are. It is an application: PRAXIS_CLIENT_ID, PRAXIS_CLIENT_SECRET and PRAXIS_API_KEY hold its credentials. Without them, and without --base, it takes those of the sandbox. PRAXIS_WEBHOOK_SECRET holds the secret of the signatures; without it a new one is printed. Ends at Ctrl-C, and removes the subscriptions that it has made.',
    arguments: [],
    options: {
      forward: {
        kind: 'value',
        description: 'Where notifications are posted to, such as http://127.0.0.1:3000/hook',
        required: true,
      },
      base: {
        kind: 'value',
        description: 'FHIR base of the practice. The default is the first practice of the sandbox',
      },
      topic: {
        kind: 'values',
        description: `A topic, by its URL or the last part of it: ${topics.map(({ url }) => nameOf(url)).join(', ')}. May be repeated`,
      },
      subscription: {
        kind: 'values',
        description: 'The id of a Subscription by websocket that there is. May be repeated',
      },
      content: {
        kind: 'value',
        description: 'How much of the resources is sent',
        values: ['empty', 'id-only', 'full-resource'],
        default: 'full-resource',
      },
      keep: { kind: 'flag', description: 'Leave the subscriptions at the end: events wait for 72 hours' },
    },
    async run({ config, print, progress }, input) {
      const target = readUrl('forward', input.required('forward'));
      const asked = readTopics(input);
      const secret = readSecret();
      const { base, credentials } = findPractice(config, input);
      const service = openServiceCaller(base, credentials);
      const stopping = new AbortController();
      const stop = (): void => stopping.abort();
      process.on('SIGINT', stop).on('SIGTERM', stop);
      const made: string[] = [];
      const tell = (line: string): void => progress(`praxis: ${line}\n`);
      try {
        for (const topic of asked) made.push(await makeSubscription(service, topic, input.required('content')));
        const subscriptions = [...input.list('subscription'), ...made];
        print(`listening at ${base}`);
        print(`forwarding to ${target}, signed by ${secret}`);
        await listen({ service, subscriptions, target, secret, print, tell, stopping: stopping.signal });
      } finally {
        process.off('SIGINT', stop).off('SIGTERM', stop);
        if (!input.flag('keep')) await removeSubscriptions(service, made, tell);
      }
    },
  },
];

function nameOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

/** URLs of topics. @throws UsageError */
function readTopics(input: CommandInput): readonly string[] {
  const names = input.list('topic');
  if (names.length === 0 && input.list('subscription').length === 0)
    throw new UsageError('--topic or --subscription is missing: it says what to listen to');
  return names.map((name) => {
    const url = topics.find((topic) => topic.url === name || nameOf(topic.url) === name)?.url ?? name;
    if (findTopic(url) === undefined)
      throw new UsageError(`--topic ${name} is none of ${topics.map((topic) => nameOf(topic.url)).join(', ')}`);
    return url;
  });
}

function readUrl(option: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(`--${option} ${text} is no URL of http or https`);
  return text;
}

/** @throws UsageError, without the secret */
function readSecret(): string {
  const secret = process.env['PRAXIS_WEBHOOK_SECRET'] ?? createWebhookSecret();
  try {
    parseWebhookSecret(secret);
  } catch (error) {
    throw new UsageError(`PRAXIS_WEBHOOK_SECRET ${error instanceof Error ? error.message : 'is no secret'}`);
  }
  return secret;
}

interface Practice {
  readonly base: string;
  readonly credentials: ListenerCredentials;
}

/** @throws UsageError that says which credentials are missing */
function findPractice(config: Config, input: CommandInput): Practice {
  const { PRAXIS_CLIENT_ID: clientId, PRAXIS_CLIENT_SECRET: clientSecret, PRAXIS_API_KEY: apiKey } = process.env;
  const given = input.option('base');
  const own = clientId && clientSecret && apiKey ? { clientId, clientSecret, apiKey } : undefined;
  const sandbox = findSandbox(config, given?.replace(/\/$/, ''));
  const base = given === undefined ? sandbox?.base : readUrl('base', given).replace(/\/$/, '');
  const credentials = own ?? sandbox?.credentials;
  if (base === undefined)
    throw new UsageError('--base is missing: the FHIR base of a practice, since there is no sandbox here');
  if (credentials === undefined)
    throw new UsageError(
      'PRAXIS_CLIENT_ID, PRAXIS_CLIENT_SECRET and PRAXIS_API_KEY are missing: the credentials of an application at the practice',
    );
  return { base, credentials };
}

/** A practice of the sandbox that this data directory has the credentials of. @param base the one that is meant */
function findSandbox(config: Config, base: string | undefined): Practice | undefined {
  const sandbox = readSandbox(config.dataDir);
  if (sandbox === undefined) return undefined;
  const places = [sandbox, ...sandbox.others].flatMap((environment) => listPractices(sandbox.origin, environment));
  return places.find((place) => base === undefined || place.base === base);
}

/** The practices of an environment, with the application that may most. */
function listPractices(
  origin: string,
  { environment, product, applications }: SandboxEnvironment,
): readonly Practice[] {
  return applications
    .filter(({ acl }) => acl.includes('acl/*'))
    .flatMap(({ firms, client }) =>
      firms.map((firm) => ({ base: `${origin}/${environment}/firm/${firm}/${product}/fhir/v2`, credentials: client })),
    );
}
