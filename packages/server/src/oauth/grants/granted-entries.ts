/**
 * The access entries of a client-credentials token: the application's, or fewer when the request asks so
 * (https://www.rfc-editor.org/rfc/rfc6749#section-3.3).
 */
import { parseScope } from '../../access/grammar.ts';
import { selectEntries } from '../../access/select-entries.ts';
import { refuse } from '../errors.ts';

/**
 * @param held the application's entries
 * @param scope the request's `scope` parameter, undefined when it sent none
 * @returns entries that are nowhere wider than `held`: filters that narrow the application stay, asked for or not
 * @throws OAuthError `invalid_scope` naming the first entry that the application does not hold
 */
export function computeGrantedEntries(held: readonly string[], scope: string | undefined): readonly string[] {
  if (scope === undefined) return held;
  const asked = parseScope(scope);
  if ('diagnostics' in asked) refuse('invalid_scope', asked.diagnostics);
  const selection = selectEntries(asked, held);
  if ('diagnostics' in selection) refuse('invalid_scope', selection.diagnostics);
  return selection.entries;
}
