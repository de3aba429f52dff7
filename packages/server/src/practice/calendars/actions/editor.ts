/** Documents that a firm keeps in versions: its calendars, its holidays, the codes of its value sets. */

import type { ActionContext } from '../../../actions/action.ts';
import type { Column } from '../../../actions/command-form.ts';
import type { Shape } from '../../../actions/schema.ts';
import { getTargetFirm } from '../../../actions/targets.ts';
import { requestLimits } from '../../../limits/budgets.ts';
import { openOperatorScope } from '../../../tenancy/operator.ts';
import type { Editor } from '../edit-calendars.ts';
import type { DocumentVersion } from '../store.ts';

/** Who keeps such documents. */
export const keepers = ['operator', 'practice'] as const;

/** What all actions have in common that show them. */
export const showing = { method: 'GET', roles: keepers, fields: {} } as const;

/** A row of a list of versions, which `showVersion` makes. */
export const versionShape: Shape = {
  version: { kind: 'integer', description: 'The id.' },
  active: { kind: 'flag', description: 'Whether it was active.' },
  changedAt: { kind: 'time', description: 'When it was created.' },
  changedBy: { kind: 'text', label: 'by', description: 'The username, or "command line".' },
  document: { kind: 'document', description: 'The rules.' },
};

/**
 * Whoever calls, as the one who changes documents of the firm that the path names.
 * @throws PraxisError `resource-not-found`
 */
export async function openEditor(
  context: ActionContext,
  path: { readonly environment: string; readonly firm: string },
): Promise<Editor> {
  const { database, clock, store, caller, openBudget } = context;
  const scope = await openOperatorScope(database, clock, await getTargetFirm(context, path));
  return { store, scope, clock, changedBy: caller.username, budget: openBudget(scope, requestLimits) };
}

/** The version with its document as JSON, for answers of `versionShape`. */
export function showVersion({ content, ...version }: DocumentVersion) {
  return { ...version, document: JSON.parse(content) };
}

/** The columns of a list of versions. */
export const versionColumns: readonly (string | Column<ReturnType<typeof showVersion>>)[] = [
  'version',
  { heading: 'STATE', cell: ({ active }) => (active ? 'active' : 'ended') },
  'changedAt',
  'changedBy',
];

/** The document of an answer, as indented JSON. */
export function printDocument({ document }: { readonly document: unknown }): readonly string[] {
  return [JSON.stringify(document, undefined, 2)];
}
