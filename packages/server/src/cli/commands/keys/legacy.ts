/** `praxis legacy report|migrate`: who still uses the password grant, and the way to client credentials. */
import { toInstant } from '../../../base/clock.ts';
import { openOrigins } from '../../../http/origins.ts';
import { migrateToClientCredentials } from '../../../oauth/legacy/migration.ts';
import { type LegacyReport, type LegacyUseRow, readLegacyReport } from '../../../oauth/legacy/report.ts';
import { realmPath } from '../../../oauth/signing/client-tokens.ts';
import { getEnvironment } from '../../../tenancy/environments.ts';
import { type Command, type CommandContext, UsageError } from '../../command.ts';
import { csvLines } from '../../csv.ts';
import { applicationOf, dateTime, environmentOption, printOnce, printTable } from '../../options.ts';

const formats = ['table', 'csv', 'json'] as const;

export const legacyCommands: readonly Command[] = [
  {
    name: 'legacy report',
    summary: 'Show who uses the legacy flow: firms, applications and their programs, and who does not',
    arguments: [],
    options: {
      ...environmentOption,
      format: { kind: 'value', description: 'table, csv or json', default: 'table' },
    },
    async run(context, input) {
      const format = formats.find((each) => each === input.required('format'));
      if (format === undefined) throw new UsageError(`--format must be ${formats.join(', ')}`);
      const { database, clock } = await context.platform();
      const environment = await getEnvironment(database, input.required('environment'));
      const nowMs = clock.now();
      const report = await readLegacyReport(database, environment, nowMs);
      if (format === 'json') context.print(JSON.stringify(toJson(environment.name, nowMs, report), undefined, 2));
      else if (format === 'csv') for (const line of csvLines(heading, report.rows.map(csvRow))) context.print(line);
      else printReport(context, report);
    },
  },
  {
    name: 'legacy migrate',
    summary: 'Make what an application lacks to use client credentials with the same rights as its legacy logins',
    arguments: ['APPLICATION'],
    options: environmentOption,
    async run(context, input) {
      const platform = await context.platform();
      const { database, secrets, config } = platform;
      const application = await applicationOf(platform, input, input.argument(0));
      const environment = await getEnvironment(database, application.environment);
      const made = await migrateToClientCredentials(database, secrets, application);
      const origin = openOrigins(config, () => `http://${config.host}:${config.port}`).ofRealm(environment.realm);
      context.print(`token endpoint: ${origin}${realmPath(environment.realm)}/protocol/openid-connect/token`);
      context.print(`acl: ${application.acl.join(' ')}`);
      context.print(`firms: ${made.firms.length === 0 ? 'none has authorised it' : made.firms.join(' ')}`);
      printOnce(context, {
        ...(made.clientId === undefined ? {} : { client_id: made.clientId }),
        ...(made.clientSecret === undefined ? {} : { client_secret: made.clientSecret }),
        ...(made.apiKey === undefined ? {} : { 'x-api-key': made.apiKey }),
      });
    },
  },
];

const heading = [
  'FIRM',
  'APPLICATION',
  'PROGRAM',
  'LAST USE',
  'CALLS 7 DAYS',
  'CALLS 30 DAYS',
  'TOKENS 7 DAYS',
  'TOKENS 30 DAYS',
  'REFUSED 30 DAYS',
];

function tableRow(row: LegacyUseRow): string[] {
  return [
    row.firm,
    row.application,
    row.agent ?? '',
    row.lastUsedAtMs === null ? 'never' : dateTime(row.lastUsedAtMs),
    ...[row.calls7Days, row.calls30Days, row.tokens7Days, row.tokens30Days, row.refused30Days].map(String),
  ];
}

/** As in the table, but for the times: instants, and nothing where there was no use. */
function csvRow(row: LegacyUseRow): string[] {
  return tableRow(row).with(3, row.lastUsedAtMs === null ? '' : toInstant(row.lastUsedAtMs));
}

function printReport(context: CommandContext, report: LegacyReport): void {
  printTable(context, heading, report.rows.map(tableRow));
  const { firmsWithoutUse, applicationsWithoutUse } = report;
  context.print('');
  context.print(`firms without use: ${firmsWithoutUse.join(', ') || 'none'}`);
  context.print(`applications without use: ${applicationsWithoutUse.join(', ') || 'none'}`);
}

function toJson(environment: string, nowMs: number, report: LegacyReport): object {
  const { rows, ...without } = report;
  const use = rows.map(({ lastUsedAtMs, ...row }) => ({
    ...row,
    lastUsedAt: lastUsedAtMs === null ? null : toInstant(lastUsedAtMs),
  }));
  return { environment, at: toInstant(nowMs), use, ...without };
}
