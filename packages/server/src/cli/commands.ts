/**
 * Every command of `praxis`, one line each, in the order of the help.
 */
import type { Command } from './command.ts';
import { accessCommands } from './commands/access.ts';
import { accountCommands } from './commands/accounts.ts';
import { administratorCommands } from './commands/administrators.ts';
import { applicationCommands } from './commands/applications.ts';
import { auditCommands } from './commands/audit.ts';
import { authorisationCommands } from './commands/authorisations.ts';
import { backupCommands } from './commands/backup.ts';
import { calendarCommands } from './commands/calendars.ts';
import { chargeCommands } from './commands/charges.ts';
import { clientCredentialCommands } from './commands/client-credentials.ts';
import { clientCommands } from './commands/clients.ts';
import { clockCommands } from './commands/clock.ts';
import { contentCommands } from './commands/content.ts';
import { entryCommands } from './commands/entries.ts';
import { environmentCommands } from './commands/environments.ts';
import { exportCommands } from './commands/export.ts';
import { firmCommands } from './commands/firms.ts';
import { holidayCommands } from './commands/holidays.ts';
import { importCommands } from './commands/import.ts';
import { intakeCommands } from './commands/intake.ts';
import { invariantCommands } from './commands/invariants.ts';
import { jobCommands } from './commands/jobs.ts';
import { keyCommands } from './commands/keys.ts';
import { legacyCommands } from './commands/legacy.ts';
import { legacySunsetCommands } from './commands/legacy-sunset.ts';
import { migrateCommands } from './commands/migrate.ts';
import { sandboxCommands } from './commands/sandbox.ts';
import { secretCommands } from './commands/secret.ts';
import { serveCommands } from './commands/serve.ts';
import { signingKeyCommands } from './commands/signing-keys.ts';
import { syntheticCommands } from './commands/synthetic.ts';
import { valueSetCommands } from './commands/value-sets.ts';

export const commands: readonly Command[] = [
  ...serveCommands,
  ...migrateCommands,
  ...administratorCommands,
  ...environmentCommands,
  ...firmCommands,
  ...calendarCommands,
  ...holidayCommands,
  ...valueSetCommands,
  ...chargeCommands,
  ...intakeCommands,
  ...invariantCommands,
  ...applicationCommands,
  ...keyCommands,
  ...clientCommands,
  ...clientCredentialCommands,
  ...accountCommands,
  ...legacyCommands,
  ...legacySunsetCommands,
  ...authorisationCommands,
  ...accessCommands,
  ...entryCommands,
  ...signingKeyCommands,
  ...secretCommands,
  ...importCommands,
  ...exportCommands,
  ...syntheticCommands,
  ...sandboxCommands,
  ...clockCommands,
  ...jobCommands,
  ...backupCommands,
  ...contentCommands,
  ...auditCommands,
];
