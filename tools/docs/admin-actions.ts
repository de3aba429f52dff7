/** The tables of docs/operate/admin.md: every action of the administration API, by what it is about. */
import type { Action } from '../../packages/server/src/actions/action.ts';
import { roles } from '../../packages/server/src/actions/schema.ts';
import { actions } from '../../packages/server/src/admin/actions/list.ts';
import { code, table } from './markdown.ts';

/** One table for each first word of the names. */
export function adminActionTables(): string {
  const areas = Map.groupBy(actions, ({ name }) => name.split(' ')[0] ?? name);
  return [...areas]
    .map(([area, those]) => {
      const rows = those.map((action) => [
        code(`${action.method} ${action.path}`),
        action.summary,
        fieldsOf(action),
        action.roles.length === roles.length ? 'all' : action.roles.join(', '),
      ]);
      return `### ${area}\n\n${table(['Action', 'What it does', 'Fields', 'Roles'], rows)}`;
    })
    .join('\n\n');
}

/** Names of the fields; those that may be absent in brackets, and who may give those that not all may give. */
function fieldsOf({ fields }: Action): string {
  return Object.entries(fields)
    .map(([name, { required, roles: who }]) => {
      const text = required === true ? code(name) : `[${code(name)}]`;
      return who === undefined ? text : `${text} (${who.join(', ')})`;
    })
    .join(' ');
}
