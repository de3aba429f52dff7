/** `praxis value-set …`: the codes that a firm keeps. */

import { defineAction } from '../../actions/action.ts';
import { buildTable, type Printed } from '../../actions/command-form.ts';
import { versionField } from '../../actions/fields.ts';
import type { Shape } from '../../actions/schema.ts';
import { openEditor } from '../calendars/actions/editor.ts';
import { getValueSet, listValueSets, retireCode, type ShownValueSet, setValueSet } from './edit-value-sets.ts';
import { buildValueSetUrl } from './table.ts';

const practices = ['operator', 'practice'] as const;

const code: Shape = {
  system: { kind: 'text', description: 'Code system.' },
  code: { kind: 'text', description: 'The code.' },
  display: { kind: 'text', description: 'What it means.' },
};

const valueSet: Shape = {
  valueSet: { kind: 'text', description: 'Id of the ValueSet.' },
  title: { kind: 'text', description: 'What it is for.' },
  url: { kind: 'text', description: 'Canonical URL of the ValueSet.' },
  governs: { kind: 'texts', description: 'Elements whose codes are taken from it, as FHIRPath.' },
  version: {
    kind: 'integer',
    nullable: true,
    none: '-',
    description: 'Raised with every change; null: the firm does not keep it.',
  },
  active: { kind: 'flag', description: 'Whether resources are judged by it.' },
  inUse: { kind: 'integer', description: 'How many codes are in use.' },
};

const { inUse: _count, ...described } = valueSet;

const whole: Shape = {
  ...described,
  codes: { kind: 'list', shape: code, description: 'Those in use.' },
  retired: { kind: 'list', shape: code, description: 'Those that stay where they are and are no longer taken.' },
};

const all = '/environments/{environment}/firms/{firm}/value-sets';

export const valueSetActions = [
  defineAction({
    name: 'value-set list',
    method: 'GET',
    path: all,
    summary: 'List the value sets that a firm can keep, and those that it does',
    roles: practices,
    fields: {},
    output: { kind: 'list', shape: valueSet },
    run: async (context, { path }) =>
      (await listValueSets(await openEditor(context, path))).map((each) => ({
        ...shown(each),
        inUse: each.inUse.length,
        retired: each.retired.length,
      })),
    command: {
      columns: [
        { heading: 'VALUE SET', cell: ({ valueSet: id }) => id },
        'version',
        { heading: 'STATE', cell: stateOf },
        'inUse',
        { heading: 'RETIRED', cell: ({ retired }) => retired },
        'title',
      ],
    },
  }),
  defineAction({
    name: 'value-set show',
    method: 'GET',
    path: `${all}/{valueSet}`,
    summary: 'The codes of a value set, those in use and those that were retired',
    roles: practices,
    fields: {},
    output: { kind: 'one', shape: whole },
    run: async (context, { path }) => shownWhole(await getValueSet(await openEditor(context, path), path.valueSet)),
    command: { print: (set) => printCodes(set) },
  }),
  defineAction({
    name: 'value-set set',
    method: 'PUT',
    path: `${all}/{valueSet}`,
    summary: 'Replace the codes of a value set, from the next request on; those left out are retired',
    description:
      'The document is {"codes": [{"code": "NEW", "display": "New patient"}], "active": true}. A code may name another system than the set’s own. Without codes a set begins with those that it is known for, if there are any. With active false nothing is judged by it.',
    roles: practices,
    fields: {
      valueSet: { kind: 'object', required: true, description: 'The document.' },
      version: versionField,
    },
    output: { kind: 'one', shape: whole },
    run: async (context, { path, body }) =>
      shownWhole(await setValueSet(await openEditor(context, path), path.valueSet, body.valueSet, body.version)),
    command: { print: (set) => printVersion(set) },
  }),
  defineAction({
    name: 'value-set retire',
    method: 'POST',
    path: `${all}/{valueSet}/retire`,
    summary: 'Retire a code of a value set: what has it keeps it, nothing new takes it',
    roles: practices,
    fields: {
      code: { kind: 'text', lengthMax: 64, required: true, description: 'The code.' },
      system: { kind: 'text', lengthMax: 255, description: 'Its code system, where several have it.' },
    },
    output: { kind: 'one', shape: whole },
    run: async (context, { path, body }) =>
      shownWhole(await retireCode(await openEditor(context, path), path.valueSet, body)),
    command: { arguments: ['firm', 'valueSet', 'code'], print: (set) => printVersion(set) },
  }),
];

function printVersion({ valueSet: id, version }: ReturnType<typeof shownWhole>): readonly string[] {
  return [`${id} at version ${version}`];
}

function printCodes({ codes, retired }: ReturnType<typeof shownWhole>): readonly Printed[] {
  const rows = [
    ...codes.map((each) => ({ ...each, state: 'in use' })),
    ...retired.map((each) => ({ ...each, state: 'retired' })),
  ];
  const table = buildTable(
    [
      { heading: 'CODE', cell: (row) => row.code },
      { heading: 'STATE', cell: ({ state }) => state },
      { heading: 'DISPLAY', cell: ({ display }) => display },
      { heading: 'SYSTEM', cell: ({ system }) => system },
    ],
    rows,
  );
  return [table];
}

function stateOf({ version, active }: ReturnType<typeof shown>): string {
  if (version === null) return 'not kept';
  return active ? 'active' : 'not judged by';
}

function shown(each: ShownValueSet) {
  const { set, version = null, active } = each;
  const governs = set.governs.map(({ expression }) => expression);
  return { valueSet: set.id, title: set.title, url: buildValueSetUrl(set.id), governs, version, active };
}

function shownWhole(each: ShownValueSet) {
  return { ...shown(each), codes: each.inUse, retired: each.retired };
}
