/** `praxis value-set …`: the codes that a firm keeps. */

import type { FirmSetCode } from '../../../practice/value-sets/codes.ts';
import {
  retireCode,
  type ShownValueSet,
  setValueSet,
  valueSetOf,
  valueSetsOf,
} from '../../../practice/value-sets/edit-value-sets.ts';
import type { Command, CommandContext } from '../../command.ts';
import { documentIn, editorOf, versionOf, versionOption } from '../../firm-documents.ts';
import { environmentOption, printTable } from '../../options.ts';

export const valueSetCommands: readonly Command[] = [
  {
    name: 'value-set list',
    summary: 'List the value sets that a firm can keep, and those that it does',
    arguments: ['FIRM'],
    options: environmentOption,
    async run(context, input) {
      const rows = (await valueSetsOf(await editorOf(await context.platform(), input))).map((each) => [
        each.set.id,
        each.version === undefined ? '-' : String(each.version),
        stateOf(each),
        String(each.inUse.length),
        String(each.retired.length),
        each.set.title,
      ]);
      printTable(context, ['VALUE SET', 'VERSION', 'STATE', 'IN USE', 'RETIRED', 'TITLE'], rows);
    },
  },
  {
    name: 'value-set show',
    summary: 'List the codes of a value set, those in use and those that were retired',
    arguments: ['FIRM', 'VALUE-SET'],
    options: environmentOption,
    async run(context, input) {
      printCodes(context, await valueSetOf(await editorOf(await context.platform(), input), input.argument(1)));
    },
  },
  {
    name: 'value-set set',
    summary: 'Replace the codes of a value set; those left out are retired',
    arguments: ['FIRM', 'VALUE-SET', 'FILE'],
    options: { ...environmentOption, ...versionOption },
    async run(context, input) {
      const document = documentIn(input.argument(2));
      const editor = await editorOf(await context.platform(), input);
      const { set, version } = await setValueSet(editor, input.argument(1), document, versionOf(input));
      context.print(`${set.id} at version ${version}`);
    },
  },
  {
    name: 'value-set retire',
    summary: 'Retire a code of a value set: what has it keeps it, nothing new takes it',
    arguments: ['FIRM', 'VALUE-SET', 'CODE'],
    options: { ...environmentOption, system: { kind: 'value', description: 'Its code system, where several have it' } },
    async run(context, input) {
      const editor = await editorOf(await context.platform(), input);
      const system = input.option('system');
      const asked = { code: input.argument(2), ...(system === undefined ? {} : { system }) };
      const { set, version } = await retireCode(editor, input.argument(1), asked);
      context.print(`${set.id} at version ${version}`);
    },
  },
];

function stateOf({ version, active }: ShownValueSet): string {
  if (version === undefined) return 'not kept';
  return active ? 'active' : 'not judged by';
}

function printCodes(context: CommandContext, { inUse, retired }: ShownValueSet): void {
  const rowsOf = (codes: readonly FirmSetCode[], state: string): readonly (readonly string[])[] =>
    codes.map(({ system, code, display }) => [code, state, display, system]);
  printTable(
    context,
    ['CODE', 'STATE', 'DISPLAY', 'SYSTEM'],
    [...rowsOf(inUse, 'in use'), ...rowsOf(retired, 'retired')],
  );
}
