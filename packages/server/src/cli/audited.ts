/**
 * Commands in the audit ledger: each that opens the database leaves a row before it does anything, and another when it
 * fails (audit/administration.ts). One that has changed an application leaves a row in the ledgers of its firms as well.
 */

import { actions } from '../admin/actions/list.ts';
import type { Platform } from '../app.ts';
import { type Administration, firmsOfApplication, noteAdministration, noteAtFirms } from '../audit/administration.ts';
import { openLedger } from '../audit/ledger.ts';
import { openProver } from '../audit/proof.ts';
import { PraxisError } from '../base/errors.ts';
import { sql } from '../database/sql.ts';
import type { Command, CommandContext, CommandInput } from './command.ts';

/** Commands that change nothing by themselves: what the service does leaves rows of its own, and a restore replaces all. */
const silent: ReadonlySet<string> = new Set(['serve', 'migrate', 'restore']);

/** Options that name what a command is about; others may hold anything. */
const namedOptions = ['environment', 'firm', 'application', 'app', 'flow', 'patient'] as const;

/** Runs the command, and says so in the ledger. @throws what the command throws */
export async function runAudited(command: Command, context: CommandContext, input: CommandInput): Promise<void> {
  if (silent.has(command.name)) return await command.run(context, input);
  let noted: Platform | undefined;
  let firms: readonly number[] = [];
  const platform = async (): Promise<Platform> => {
    const opened = await context.platform();
    if (noted === undefined) {
      noted = opened;
      firms = await changedFirmsOf(opened, command, input);
      await note(opened, command, input);
    }
    return opened;
  };
  try {
    await command.run({ ...context, platform }, input);
  } catch (error) {
    if (noted !== undefined) await note(noted, command, input, error instanceof PraxisError ? error.code : 'internal');
    throw error;
  }
  if (noted !== undefined) await noteChanged(noted, administrationOf(command, input), firms);
}

async function note(platform: Platform, command: Command, input: CommandInput, reason?: string): Promise<void> {
  const { database, clock, secrets } = platform;
  await noteAdministration(
    { database, clock, prove: openProver(secrets) },
    { ...administrationOf(command, input), ...(reason === undefined ? {} : { reason }) },
    await firmOf(platform, command, input),
  );
}

function administrationOf(command: Command, input: CommandInput): Administration {
  const options = namedOptions.flatMap((name) => {
    const value = name in command.options ? input.option(name) : undefined;
    return value === undefined ? [] : [`--${name} ${value}`];
  });
  return { subject: 'operator', flow: 'command', action: [command.name, ...input.positionals, ...options].join(' ') };
}

/** The names of commands that only show: the actions of the same names are read with GET. */
const shows: ReadonlySet<string> = new Set(actions.filter(({ method }) => method === 'GET').map(({ name }) => name));

/** The firms for which it counts when this command changes an application as a whole; none for any other command. */
async function changedFirmsOf(platform: Platform, command: Command, input: CommandInput): Promise<readonly number[]> {
  const at = command.arguments.findIndex(
    (name) => name === 'APPLICATION' || (name === 'NAME' && command.name.startsWith('app ')),
  );
  const application = input.positionals[at];
  const environment = 'environment' in command.options ? input.option('environment') : undefined;
  const isOfFirm = command.arguments.includes('FIRM') || 'firm' in command.options;
  if (application === undefined || environment === undefined || isOfFirm || shows.has(command.name)) return [];
  return await firmsOfApplication(platform, { environment, application });
}

async function noteChanged(platform: Platform, administration: Administration, firms: readonly number[]) {
  if (firms.length === 0) return;
  const { database, log, clock, secrets } = platform;
  const ledger = openLedger({ database, log, prove: openProver(secrets), flushMs: 0 });
  await noteAtFirms({ ledger, clock }, administration, firms);
  await ledger.close();
}

/** The firm that the command names, if there is one of that name. */
async function firmOf({ database }: Platform, command: Command, input: CommandInput): Promise<number | undefined> {
  const at = command.arguments.findIndex(
    (name) => name === 'FIRM' || (name === 'PREFIX' && command.name.startsWith('firm ')),
  );
  const prefix = 'firm' in command.options ? input.option('firm') : at < 0 ? undefined : input.positionals[at];
  const environment = 'environment' in command.options ? input.option('environment') : undefined;
  if (prefix === undefined || environment === undefined) return undefined;
  const [row] = await database.query<{ id: number }>(sql`
    SELECT f.id FROM firm f JOIN environment e ON e.id = f.environment
    WHERE e.name = ${environment} AND f.prefix = ${prefix}`);
  return row?.id;
}
