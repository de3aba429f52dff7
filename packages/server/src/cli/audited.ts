/**
 * Commands in the audit ledger, by the code that notes what is asked of the administration API: each that opens the database
 * leaves a row before it does anything, and another when it fails. One that has changed an application leaves a row in the
 * ledgers of its firms as well.
 */
import { type Concerned, type NotedChange, noteChange } from '../admin/audit-actions.ts';
import type { Platform } from '../app.ts';
import { openLedger } from '../audit/ledger.ts';
import { openProver } from '../audit/proof.ts';
import { type Command, type CommandContext, type CommandInput, UsageError } from './command.ts';

/** Commands that change nothing by themselves: what the service does leaves rows of its own, and a restore replaces all. */
const silent: ReadonlySet<string> = new Set(['serve', 'migrate', 'restore']);

const operator = { username: 'operator', kind: 'command' } as const;

/** Runs the command, and says so in the ledger. @throws what the command throws */
export async function runAudited(command: Command, context: CommandContext, input: CommandInput): Promise<void> {
  if (silent.has(command.name)) return await command.run(context, input);
  let change: NotedChange | undefined;
  const platform = async (): Promise<Platform> => {
    const opened = await context.platform();
    change ??= await note(opened, command, input);
    return opened;
  };
  try {
    await command.run({ ...context, platform }, input);
  } catch (error) {
    await change?.fail(error instanceof UsageError && error.cause !== undefined ? error.cause : error);
    throw error;
  }
  await change?.done();
}

async function note(platform: Platform, command: Command, input: CommandInput): Promise<NotedChange> {
  const { database, log, clock, secrets } = platform;
  const prove = openProver(secrets);
  const ledger = openLedger({ database, log, prove, flushMs: 0 });
  const act = { action: textOf(command, input), segments: {}, caller: operator };
  const change = await noteChange({ database, clock, ledger, prove }, act, concerned(command, input));
  return {
    async fail(error) {
      await change.fail(error);
      await ledger.close();
    },
    async done() {
      await change.done();
      await ledger.close();
    },
  };
}

/** `app suspend Scheduler --environment sandbox` */
function textOf({ name, options }: Command, input: CommandInput): string {
  const noted = Object.entries(options)
    .filter(([, { noted: isNoted, place }]) => isNoted === true || place !== undefined)
    .flatMap(([option]) =>
      input.flag(option) ? [`--${option}`] : valuesOf(input, option).map((value) => `--${option} ${value}`),
    );
  return [name, ...input.positionals, ...noted].join(' ');
}

function concerned(command: Command, input: CommandInput): Concerned {
  const named = (wanted: string): readonly string[] => [
    ...command.arguments.flatMap(({ place }, index) => (place === wanted ? [input.argument(index)] : [])),
    ...Object.entries(command.options).flatMap(([option, { place }]) =>
      place === wanted ? valuesOf(input, option) : [],
    ),
  ];
  return { environment: named('environment')[0], firms: named('firm'), application: named('application')[0] };
}

function valuesOf(input: CommandInput, option: string): readonly string[] {
  const value = input.option(option);
  return value === undefined ? input.list(option) : [value];
}
