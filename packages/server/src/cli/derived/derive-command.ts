/**
 * The command of an action of administration: its words, arguments, options and output follow from the description that the
 * administration API has, too (docs/decisions/0252).
 */
import type { Action } from '../../actions/action.ts';
import type { CommandValues } from '../../actions/command-form.ts';
import type { Fields, Output } from '../../actions/schema.ts';
import type { AdminContext } from '../../admin/context.ts';
import { buildAnswer } from '../../admin/output.ts';
import { runAction } from '../../admin/run-action.ts';
import { PraxisError } from '../../base/errors.ts';
import { listFirms } from '../../tenancy/firms.ts';
import { type Command, type CommandContext, type CommandInput, type OptionSpec, UsageError } from '../command.ts';
import { printAll } from '../printing.ts';
import { buildActionContext, rowsMax } from './action-context.ts';
import { formatResult, showsSecret, toRows } from './answer.ts';
import { deriveParameters, type Parameters } from './parameters.ts';
import { getParameterLabel, readValues } from './values.ts';

export type CommandAction = Action<string, Fields, AdminContext>;

const json: OptionSpec = { kind: 'flag', description: 'Print the JSON of the administration API' };
const csv: OptionSpec = { kind: 'flag', description: 'Print comma-separated values' };
/** How the output can be printed, by its kind. */
const formats: Readonly<Record<Output['kind'], Readonly<Record<string, OptionSpec>>>> = {
  nothing: {},
  one: { json },
  list: { csv, json },
};

/** Derives the command. */
export function deriveCommand(action: CommandAction): Command {
  const parameters = deriveParameters(action);
  const { name, summary, description, command: { aliases } = {}, output } = action;
  return {
    name,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(aliases === undefined ? {} : { aliases }),
    arguments: parameters.arguments,
    options: { ...parameters.options, ...formats[output.kind] },
    run: (context, input) => runDerived(context, action, parameters, input),
  };
}

async function runDerived(
  context: CommandContext,
  action: CommandAction,
  parameters: Parameters,
  input: CommandInput,
): Promise<void> {
  const values = readValues(action, parameters, input);
  const admin = buildActionContext(await context.platform());
  const { answer, printed, result } = await resultOf(action, admin, values).catch((error: unknown) =>
    failForCommandLine(action, parameters, error),
  );
  const isCsv = input.flag('csv') || values.options['format'] === 'csv';
  if (input.flag('json')) context.print(JSON.stringify(answer, undefined, 2));
  else printAll(context, printed, isCsv);
  if (toRows(result).length > rowsMax) context.progress(`These are ${rowsMax} rows: there are more.\n`);
  if (showsSecret(action, result)) context.progress('Keep it now: it is stored as a hash and cannot be shown again.\n');
}

/** What the action gives; `answer` is the JSON of the administration API. */
async function resultOf(action: CommandAction, context: AdminContext, values: CommandValues) {
  const [shown, result] =
    action.command?.isForEveryFirm === true
      ? await resultOfFirms(action, context, values)
      : ([action, await runAction(action, context, values)] as const);
  return { result, answer: buildAnswer(shown.output, result, rowsMax), printed: formatResult(shown, result, values) };
}

/** The rows of one firm or of every firm of the environment, each with its firm, and the action that would give them. */
async function resultOfFirms(
  action: CommandAction,
  context: AdminContext,
  values: CommandValues,
): Promise<readonly [CommandAction, readonly object[]]> {
  const { environment = '', firm } = values.path;
  const firms =
    firm === undefined ? (await listFirms(context.database, environment)).map(({ prefix }) => prefix) : [firm];
  const rows: object[] = [];
  for (const each of firms) {
    const found = await runAction(action, context, { ...values, path: { ...values.path, firm: each } });
    for (const row of toRows(found)) rows.push({ ...Object(row), firm: each });
  }
  const { output } = action;
  if (output.kind !== 'list') throw new TypeError(`${action.name} gives no list`);
  const shape = { firm: { kind: 'text', description: 'Prefix of the firm.' }, ...output.shape } as const;
  return [{ ...action, output: { ...output, shape } }, rows];
}

/** A rule that an option breaks is named by the option. @throws UsageError for a broken rule, otherwise `error` */
function failForCommandLine({ fields }: CommandAction, parameters: Parameters, error: unknown): never {
  if (!(error instanceof PraxisError) || error.code !== 'rule-broken') throw error;
  const { diagnostics, expression = [] } = error.details;
  const [name = ''] = expression;
  const bound = parameters.bound.find((each) => each.name === name && each.field === fields[name]);
  if (bound?.field === undefined) throw error;
  const isNamed = 'option' in bound.at && diagnostics.startsWith(name) && /^\W/.test(diagnostics.slice(name.length));
  const isSecret = bound.field.kind === 'text' && bound.field.secret === true;
  const text =
    isNamed && !isSecret ? `${getParameterLabel(bound, parameters)}${diagnostics.slice(name.length)}` : diagnostics;
  throw new UsageError(text, { cause: error });
}
