/** `praxis legacy sunset|brown-out …`: when the legacy flow is deprecated, refused for a while, and ends. */
import type { Platform } from '../../../app.ts';
import { toInstant } from '../../../base/clock.ts';
import {
  addBrownOut,
  clearSunset,
  type LegacyScope,
  listBrownOuts,
  listSunsets,
  removeBrownOut,
  setSunset,
} from '../../../oauth/legacy/sunset-administration.ts';
import { getEnvironment } from '../../../tenancy/environments.ts';
import { type Command, type CommandInput, type OptionSpec, UsageError } from '../../command.ts';
import { applicationOf, environmentOption, firmOf, printTable, requireTime } from '../../options.ts';

const scopeOptions = {
  ...environmentOption,
  firm: { kind: 'value', description: 'Only this firm, by its prefix' },
  application: { kind: 'value', description: 'Only this application' },
} as const satisfies Record<string, OptionSpec>;

export const legacySunsetCommands: readonly Command[] = [
  {
    name: 'legacy sunset set',
    summary: 'Announce that the legacy flow is deprecated and when it ends; from then on it is refused',
    arguments: [],
    options: {
      ...scopeOptions,
      link: { kind: 'value', required: true, description: 'URL of a page about the migration' },
      deprecated: { kind: 'value', description: 'Since or from when, an ISO 8601 date or time; now when absent' },
      sunset: { kind: 'value', description: 'The end, an ISO 8601 date or time; none is announced when absent' },
    },
    async run(context, input) {
      const platform = await context.platform();
      const scope = await scopeOf(platform, input);
      const [deprecated, sunset] = [input.option('deprecated'), input.option('sunset')];
      await setSunset(platform.database, scope, {
        link: input.required('link'),
        deprecatedAtMs: deprecated === undefined ? platform.clock.now() : requireTime('deprecated', deprecated),
        ...(sunset === undefined ? {} : { sunsetAtMs: requireTime('sunset', sunset) }),
      });
      const end = sunset === undefined ? 'no end is announced' : `it ends at ${time(requireTime('sunset', sunset))}`;
      context.print(`the legacy flow is deprecated for ${nameOf(scope)}; ${end}`);
    },
  },
  {
    name: 'legacy sunset clear',
    summary: 'Take back what was announced for exactly this scope, from the next request on',
    arguments: [],
    options: scopeOptions,
    async run(context, input) {
      const platform = await context.platform();
      const scope = await scopeOf(platform, input);
      await clearSunset(platform.database, scope);
      context.print(`nothing is announced for ${nameOf(scope)} by itself`);
    },
  },
  {
    name: 'legacy sunset show',
    summary: 'List what is announced in an environment; the narrowest that fits a caller counts',
    arguments: [],
    options: environmentOption,
    async run(context, input) {
      const { database } = await context.platform();
      const environment = await getEnvironment(database, input.required('environment'));
      const rows = (await listSunsets(database, environment)).map((each) => [
        each.firm ?? '(all)',
        each.application ?? '(all)',
        time(each.deprecatedAtMs),
        each.sunsetAtMs === null ? '' : time(each.sunsetAtMs),
        each.link,
      ]);
      printTable(context, ['FIRM', 'APPLICATION', 'DEPRECATED', 'SUNSET', 'LINK'], rows);
    },
  },
  {
    name: 'legacy brown-out add',
    summary: 'Plan a time in which the legacy flow is refused; it returns by itself',
    arguments: [],
    options: {
      ...scopeOptions,
      from: { kind: 'value', required: true, description: 'Its beginning, an ISO 8601 time with its zone' },
      until: { kind: 'value', required: true, description: 'Its end, an ISO 8601 time with its zone' },
    },
    async run(context, input) {
      const platform = await context.platform();
      const scope = await scopeOf(platform, input);
      const startsAtMs = requireTime('from', input.required('from'));
      const endsAtMs = requireTime('until', input.required('until'));
      const id = await addBrownOut(platform.database, platform.clock, scope, { startsAtMs, endsAtMs });
      context.print(`brown-out ${id} for ${nameOf(scope)} from ${time(startsAtMs)} until ${time(endsAtMs)}`);
    },
  },
  {
    name: 'legacy brown-out list',
    summary: 'List the brown-outs of an environment, past ones too',
    arguments: [],
    options: environmentOption,
    async run(context, input) {
      const { database, clock } = await context.platform();
      const environment = await getEnvironment(database, input.required('environment'));
      const nowMs = clock.now();
      const rows = (await listBrownOuts(database, environment)).map((each) => [
        String(each.id),
        each.firm ?? '(all)',
        each.application ?? '(all)',
        time(each.startsAtMs),
        time(each.endsAtMs),
        nowMs < each.startsAtMs ? 'planned' : nowMs < each.endsAtMs ? 'running' : 'over',
      ]);
      printTable(context, ['ID', 'FIRM', 'APPLICATION', 'FROM', 'UNTIL', 'STATE'], rows);
    },
  },
  {
    name: 'legacy brown-out remove',
    summary: 'Take a brown-out back; one that is running ends with the next request',
    arguments: ['ID'],
    options: environmentOption,
    async run(context, input) {
      const { database } = await context.platform();
      const id = Number(input.argument(0));
      if (!Number.isSafeInteger(id) || id < 1)
        throw new UsageError('ID must be a number that praxis legacy brown-out list shows');
      await removeBrownOut(database, await getEnvironment(database, input.required('environment')), id);
      context.print(`brown-out ${id} is removed`);
    },
  },
];

async function scopeOf(platform: Platform, input: CommandInput): Promise<LegacyScope> {
  const environment = await getEnvironment(platform.database, input.required('environment'));
  const [firm, application] = [input.option('firm'), input.option('application')];
  return {
    environment,
    ...(firm === undefined ? {} : { firm: await firmOf(platform, input, firm) }),
    ...(application === undefined ? {} : { application: await applicationOf(platform, input, application) }),
  };
}

/** `Scheduler at maple in sandbox` */
function nameOf({ environment, firm, application }: LegacyScope): string {
  const who = application?.name ?? 'all applications';
  return firm ? `${who} at ${firm.prefix} in ${environment.name}` : `${who} in ${environment.name}`;
}

/** To the second, as headers tell it. */
function time(ms: number): string {
  return toInstant(ms).replace(/\.\d{3}Z$/, 'Z');
}
