/**
 * `praxis access explain`: what an application may do at a firm and why, as the service itself decides it (the same
 * functions answer `$effective-access` and every request).
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { parseScope } from '../../../access/grammar.ts';
import type { AccessPolicy } from '../../../access/policy.ts';
import { rowQueryText } from '../../../access/row-query.ts';
import { explainAccess, type Verdict, verdictsOn } from '../../../admin/explain.ts';
import {
  type EffectiveAccess,
  effectiveAccess,
  interactionNames,
  type PermissionGrant,
  refusalOf,
} from '../../../engine/rights/effective-access.ts';
import { openOperations } from '../../../operations/open-operations.ts';
import { operations } from '../../../practice/operations.ts';
import { type Command, type CommandContext, type CommandInput, UsageError } from '../../command.ts';
import { applicationOf, environmentOption, firmOf, printTable } from '../../options.ts';

export const accessCommands: readonly Command[] = [
  {
    name: 'access explain',
    summary: 'Say what an application may do at a firm, and why not more',
    arguments: [],
    options: {
      ...environmentOption,
      firm: { kind: 'value', description: 'The firm', required: true },
      application: { kind: 'value', description: 'The application', required: true },
      scope: { kind: 'value', description: 'Entries of a token that was asked for with this scope; all if absent' },
      type: { kind: 'value', description: 'Only this resource type' },
      interaction: { kind: 'value', description: 'Whether this interaction is allowed on the type' },
      parameter: { kind: 'value', description: 'Whether a search of the type may use this parameter' },
    },
    run: explain,
  },
];

async function explain(context: CommandContext, input: CommandInput): Promise<void> {
  const { type, interaction, parameter } = questionOf(input);
  const platform = await context.platform();
  const firm = await firmOf(platform, input, input.required('firm'));
  const application = await applicationOf(platform, input, input.required('application'));
  const { closed, policy, own } = await explainAccess(platform, firm, application, scopeOf(input));
  for (const reason of closed) context.print(refused(reason));
  if (policy === undefined) return;
  if (type !== undefined)
    for (const verdict of verdictsOn(policy, own, { type, interaction, parameter })) context.print(lineOf(verdict));
  if (type !== undefined && interaction !== undefined && refusalOf(policy, interaction, type) === undefined)
    printGrants(context, type, effectiveAccess(policy, [], [type]).types[0]?.grants ?? []);
  if (interaction === undefined && parameter === undefined) {
    printAccess(context, effectiveAccess(policy, own, type === undefined ? [] : [type]));
    printOperations(context, policy, type);
  }
}

function questionOf(input: CommandInput) {
  const [type, interaction, parameter] = ['type', 'interaction', 'parameter'].map((name) => input.option(name));
  if (type === undefined && (interaction ?? parameter) !== undefined)
    throw new UsageError('--interaction and --parameter are asked of a --type');
  if (type !== undefined && !resourceTypesWithEndpoint.includes(type))
    throw new UsageError('--type must be a resource type of R4 that has an endpoint');
  const name = interactionNames.find((each) => each === interaction);
  if (interaction !== undefined && name === undefined)
    throw new UsageError(`--interaction must be one of ${interactionNames.join(', ')}`);
  return { type, interaction: name, parameter };
}

function scopeOf(input: CommandInput): string | undefined {
  const scope = input.option('scope');
  const parsed = scope === undefined ? [] : parseScope(scope);
  if ('diagnostics' in parsed) throw new UsageError(`--scope: ${parsed.diagnostics}`);
  return scope;
}

function lineOf({ what, allowed, entries, reason = '' }: Verdict): string {
  return allowed ? `allowed: ${what}, by ${entries.join(', ')}` : refused(reason);
}

function refused(why: string): string {
  return `refused: ${why}`;
}

function printAccess(context: CommandContext, { entries, bundles, types }: EffectiveAccess): void {
  printTable(
    context,
    ['ENTRY', 'HELD BY', 'EFFECTIVE', 'REASON'],
    entries.map(({ entry, heldBy, effective, reason = '' }) => [
      entry,
      heldBy.join(', '),
      effective ? 'yes' : 'no',
      reason,
    ]),
  );
  if (bundles.length > 0) context.print(`Transaction Bundles: ${bundles.join(', ')}`);
  for (const access of types) {
    context.print('');
    context.print(`${access.type}: ${access.interactions.join(', ')}`);
    printGrants(context, access.type, access.grants);
    for (const [name, values] of [
      ['search parameters', access.searchParameters],
      ['sort keys', access.sortKeys],
      ['includes', access.includes],
      ['reverse includes', access.revincludes],
    ] as const) {
      if (values.length > 0) context.print(`  ${name}: ${values.join(', ')}`);
    }
  }
}

function printGrants(context: CommandContext, type: string, grants: readonly PermissionGrant[]): void {
  for (const { letter, elements, criteria, entries } of grants) {
    const what = elements === 'all' ? 'all elements' : elements.map((path) => path.slice(type.length + 1)).join(', ');
    const rows = criteria.length === 0 ? 'all rows' : `rows of ${rowQueryText(criteria)}`;
    context.print(`  ${letter}: ${what}, ${rows}, by ${entries.join(', ')}`);
  }
}

function printOperations(context: CommandContext, policy: AccessPolicy, type: string | undefined): void {
  const open = openOperations(operations, policy).filter(
    ({ types }) => type === undefined || types.length === 0 || types.includes(type),
  );
  context.print('');
  context.print(`Operations: ${open.map(({ name, level }) => `$${name} (${level})`).join(', ')}`);
}
