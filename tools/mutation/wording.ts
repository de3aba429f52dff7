/**
 * What no mutant is made of, by rule: types, imports, texts for people, and what goes to the log. A test that pinned every word
 * of every message would make messages hard to mend; that errors have the right code, status, element and rule is tested.
 */

import type { Node, SourceFile } from 'typescript/unstable/ast';
import {
  isCallExpression,
  isExportDeclaration,
  isIdentifier,
  isImportDeclaration,
  isInterfaceDeclaration,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
  isThrowStatement,
  isTypeAliasDeclaration,
  isTypeNode,
} from 'typescript/unstable/ast/is';

/** The rule as the report states it. */
export const leftOutRule =
  'types, imports and exports. Neither are sentences (texts with a blank), texts given to `fail(…)`, `refuse…(…)` or an error’s ' +
  'constructor, except the code. Neither are the properties `diagnostics`, `details`, `log`, `message`, `says`, `title` and ' +
  '`description`, and faults of the program (`throw new TypeError(…)`)';

const wordingProperties: ReadonlySet<string> = new Set([
  'diagnostics',
  'details',
  'log',
  'message',
  'says',
  'title',
  'description',
]);
const refusals = /^(?:fail|refuse\w*)$/;

/** Whether neither the node nor what it holds is changed. */
export function isLeftOut(node: Node, source: SourceFile): boolean {
  if (isTypeNode(node) || isImportDeclaration(node) || isExportDeclaration(node)) return true;
  if (isInterfaceDeclaration(node) || isTypeAliasDeclaration(node)) return true;
  if (isPropertyAssignment(node)) return wordingProperties.has(node.name.getText(source));
  if (isThrowStatement(node)) return isNewExpression(node.expression);
  return false;
}

/** Whether a text is for people. */
export function isWording(node: Node, source: SourceFile): boolean {
  return node.getText(source).includes(' ') || isGivenToError(node);
}

/** As it stands among the arguments of a refusal; the first of them is its code. */
function isGivenToError(node: Node): boolean {
  const { parent } = node;
  if (isNewExpression(parent)) return parent.expression.getText().endsWith('Error');
  if (!isCallExpression(parent) || !refusals.test(nameOf(parent.expression))) return false;
  return parent.arguments[0] !== node;
}

/** The name by which something is called. */
export function nameOf(called: Node): string {
  if (isPropertyAccessExpression(called)) return called.name.text;
  return isIdentifier(called) ? called.text : '';
}

/** Whether the node is a text of whatever quotes. */
export function isText(node: Node): boolean {
  return isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node) || isTemplateExpression(node);
}
