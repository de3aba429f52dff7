/**
 * Every command of `praxis`, one line each, in the order of the help.
 */
import type { Command } from './command.ts';
import { accessCommands } from './commands/access/access.ts';
import { accountCommands } from './commands/access/accounts.ts';
import { administratorCommands } from './commands/access/administrators.ts';
import { applicationCommands } from './commands/access/applications.ts';
import { authorisationCommands } from './commands/access/authorisations.ts';
import { entryCommands } from './commands/access/entries.ts';
import { environmentCommands } from './commands/access/environments.ts';
import { firmCommands } from './commands/access/firms.ts';
import { auditCommands } from './commands/data/audit.ts';
import { backupCommands } from './commands/data/backup.ts';
import { contentCommands } from './commands/data/content.ts';
import { exportCommands } from './commands/data/export.ts';
import { importCommands } from './commands/data/import.ts';
import { invariantCommands } from './commands/data/invariants.ts';
import { syntheticCommands } from './commands/data/synthetic.ts';
import { clientCredentialCommands } from './commands/keys/client-credentials.ts';
import { clientCommands } from './commands/keys/clients.ts';
import { keyCommands } from './commands/keys/keys.ts';
import { legacyCommands } from './commands/keys/legacy.ts';
import { legacySunsetCommands } from './commands/keys/legacy-sunset.ts';
import { secretCommands } from './commands/keys/secret.ts';
import { signingKeyCommands } from './commands/keys/signing-keys.ts';
import { calendarCommands } from './commands/practice/calendars.ts';
import { chargeCommands } from './commands/practice/charges.ts';
import { holidayCommands } from './commands/practice/holidays.ts';
import { intakeCommands } from './commands/practice/intake.ts';
import { valueSetCommands } from './commands/practice/value-sets.ts';
import { clockCommands } from './commands/service/clock.ts';
import { jobCommands } from './commands/service/jobs.ts';
import { migrateCommands } from './commands/service/migrate.ts';
import { sandboxCommands } from './commands/service/sandbox.ts';
import { serveCommands } from './commands/service/serve.ts';

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
