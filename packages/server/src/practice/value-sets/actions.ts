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
  system: { kind: 'text', description: 'The code system.' },
  code: { kind: 'text', description: 'The code.' },
  display: { kind: 'text', description: 'The display text.' },
};

const valueSet: Shape = {
  valueSet: { kind: 'text', description: 'The id of the ValueSet.' },
  title: { kind: 'text', description: 'Its purpose.' },
  url: { kind: 'text', description: 'The canonical URL of the ValueSet.' },
  governs: { kind: 'texts', description: 'The elements that are bound to it, as FHIRPath.' },
  version: {
    kind: 'integer',
    nullable: true,
    none: '-',
    description: 'The version. It increases with each change. Null: the firm does not use the value set.',
  },
  active: { kind: 'flag', description: 'Whether resources are validated against it.' },
  inUse: { kind: 'integer', description: 'How many codes are active.' },
};

const { inUse: _count, ...described } = valueSet;

const whole: Shape = {
  ...described,
  codes: { kind: 'list', shape: code, description: 'The active codes.' },
  retired: {
    kind: 'list',
    shape: code,
    description: 'The retired codes: stored resources keep them, new ones are refused.',
  },
};

const all = '/environments/{environment}/firms/{firm}/value-sets';

export const valueSetActions = [
  defineAction({
    name: 'value-set list',
    method: 'GET',
    path: all,
    summary: 'List the value sets that a firm can use, with those that it uses',
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
    summary: 'Show the active and retired codes of a value set',
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
    summary: 'Replace the codes of a value set; codes that are absent are retired',
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
    summary: 'Retire a code of a value set: stored resources keep it, new ones are refused',
    roles: practices,
    fields: {
      code: { kind: 'text', lengthMax: 64, required: true, description: 'The code.' },
      system: { kind: 'text', lengthMax: 255, description: 'The code system, if several have the code.' },
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
