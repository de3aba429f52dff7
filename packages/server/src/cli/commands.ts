/**
 * Every command of `praxis`, in the order of the help: those of the machine itself, written by hand, and one for each action
 * of administration.
 */
import { commandActions } from '../admin/actions/list.ts';
import type { Command } from './command.ts';
import { auditCommands } from './commands/data/audit.ts';
import { backupCommands } from './commands/data/backup.ts';
import { contentCommands } from './commands/data/content.ts';
import { eraseCommands } from './commands/data/erase.ts';
import { exportCommands } from './commands/data/export.ts';
import { importCommands } from './commands/data/import.ts';
import { walkPages } from './commands/data/invariants.ts';
import { secretCommands } from './commands/data/secret.ts';
import { syntheticCommands } from './commands/data/synthetic.ts';
import { buildCompletionCommand } from './commands/service/completion.ts';
import { doctorCommands } from './commands/service/doctor.ts';
import { listEverywhere } from './commands/service/jobs.ts';
import { listenCommands } from './commands/service/listen.ts';
import { migrateCommands } from './commands/service/migrate.ts';
import { showRows } from './commands/service/operator-rows.ts';
import { sandboxCommands } from './commands/service/sandbox.ts';
import { serveCommands } from './commands/service/serve.ts';
import { deriveCommand } from './derived/derive-command.ts';

/** Commands that do something else than their action, by name. */
const variants: Readonly<Record<string, (derived: Command) => Command>> = {
  'invariants broken': walkPages,
  'authorisation rows': showRows,
  'job list': listEverywhere,
};

const derived = commandActions.map((action) => {
  const command = deriveCommand(action);
  return variants[action.name]?.(command) ?? command;
});

export const commands: readonly Command[] = [
  ...serveCommands,
  ...migrateCommands,
  ...doctorCommands,
  ...derived,
  ...eraseCommands,
  ...auditCommands,
  ...secretCommands,
  ...importCommands,
  ...exportCommands,
  ...syntheticCommands,
  ...sandboxCommands,
  ...listenCommands,
  ...backupCommands,
  ...contentCommands,
  buildCompletionCommand(() => commands),
];
