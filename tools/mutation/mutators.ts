/** The changes that a mutation run makes: each a small mistake that a person could make, as data. */

import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isArrayLiteralExpression,
  isArrowFunction,
  isBinaryExpression,
  isBlock,
  isBreakStatement,
  isCallExpression,
  isConditionalExpression,
  isContinueStatement,
  isExpression,
  isExpressionStatement,
  isForStatement,
  isIfStatement,
  isNumericLiteral,
  isParenthesizedExpression,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isReturnStatement,
  isThrowStatement,
  isWhileStatement,
} from 'typescript/unstable/ast/is';
import { type Change, keptOnly, type Mutator, replaced } from './changes.ts';
import { sqlMutator } from './sql-mutator.ts';
import { isText, isWording, nameOf } from './wording.ts';

/** Operators by what stands in their place. */
const operators: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  relational: { '<': ['<=', '>='], '<=': ['<', '>'], '>': ['>=', '<='], '>=': ['>', '<'] },
  equality: { '===': ['!=='], '!==': ['==='] },
  logical: { '&&': ['||'], '||': ['&&'] },
  arithmetic: { '+': ['-'], '-': ['+'], '*': ['/'], '/': ['*'], '%': ['*'], '+=': ['-='], '-=': ['+='] },
};

/** Calls by the name that stands in the place of theirs. */
const otherCalls: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  min: 'max',
  max: 'min',
  union: 'intersection',
  intersection: 'union',
  isSubsetOf: 'isSupersetOf',
};

/** Calls that are left away, so that what they are called on stays as it is. */
const droppedCalls: ReadonlySet<string> = new Set(
  'filter slice toSorted toReversed sort reverse trim toLowerCase toUpperCase normalize flat concat difference'.split(
    ' ',
  ),
);

/** Calls whose answer is yes or no. */
const predicates =
  /^(?:is[A-Z]|has[A-Z]|may[A-Z]|can[A-Z]|covers|includes$|has$|some$|every$|startsWith$|endsWith$|test$)/;
const comparisons = new Set(['<', '<=', '>', '>=', '===', '!==', 'in', 'instanceof']);

/** All of them, in the order of the report. */
export const mutators: readonly Mutator[] = [
  {
    name: 'condition',
    says: 'the condition of an if, while, for or ?: is always true, or always false',
    of: ofCondition,
  },
  { name: 'predicate', says: 'a function that answers yes or no always answers yes, or always no', of: ofPredicate },
  { name: 'negation', says: '`!` is left away', of: ofNegation },
  {
    name: 'relational',
    says: '`<`, `<=`, `>` and `>=` are moved by one or turned round',
    of: ofOperator('relational'),
  },
  { name: 'equality', says: '`===` is `!==` and the reverse', of: ofOperator('equality') },
  { name: 'logical', says: '`&&` is `||` and the reverse', of: ofOperator('logical') },
  { name: 'operand', says: 'only one side of `&&`, `||` or `??` is left', of: ofOperands },
  { name: 'arithmetic', says: '`+` is `-`, `*` is `/` and the reverse', of: ofArithmetic },
  {
    name: 'statement',
    says: 'a call or assignment, an early return, continue or break, or a throw is removed',
    of: ofStatement,
  },
  { name: 'call', says: 'some/every, startsWith/endsWith, min/max, union/intersection are swapped', of: ofOtherCall },
  { name: 'dropped call', says: 'a filter, slice, sort, trim, change of case … is left away', of: ofDroppedCall },
  { name: 'array', says: 'a list is empty', of: ofArray },
  { name: 'text', says: 'a text that is no wording is empty', of: ofText },
  { name: 'number', says: 'a number is one more', of: ofNumber },
  { name: 'boolean', says: 'true is false and the reverse', of: ofBoolean },
  sqlMutator,
];

function ofCondition(node: Node, source: SourceFile): readonly Change[] {
  if (isIfStatement(node)) return bothWays(node.expression, source);
  if (isConditionalExpression(node)) return bothWays(node.condition, source);
  if (isWhileStatement(node)) return [replaced(node.expression, source, 'false')];
  return isForStatement(node) && node.condition !== undefined ? [replaced(node.condition, source, 'false')] : [];
}

function bothWays(node: Node, source: SourceFile): readonly Change[] {
  return ['true', 'false'].map((value) => replaced(node, source, value));
}

function ofPredicate(node: Node, source: SourceFile): readonly Change[] {
  if (isReturnStatement(node) && node.expression !== undefined) {
    return isYesOrNo(node.expression) ? bothWays(node.expression, source) : [];
  }
  return isArrowFunction(node) && isExpression(node.body) && isYesOrNo(node.body) ? bothWays(node.body, source) : [];
}

function isYesOrNo(node: Node): boolean {
  if (isParenthesizedExpression(node)) return isYesOrNo(node.expression);
  if (isPrefixUnaryExpression(node)) return node.operator === SyntaxKind.ExclamationToken;
  if (isCallExpression(node)) return predicates.test(nameOf(node.expression));
  if (!isBinaryExpression(node)) return false;
  const operator = node.operatorToken.getText();
  return (
    comparisons.has(operator) || (['&&', '||'].includes(operator) && isYesOrNo(node.left) && isYesOrNo(node.right))
  );
}

function ofNegation(node: Node, source: SourceFile): readonly Change[] {
  const isNegation = isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken;
  return isNegation ? [keptOnly(node, node.operand, source)] : [];
}

function ofOperator(family: string): Mutator['of'] {
  const table = operators[family] ?? {};
  return (node, source) => {
    if (!isBinaryExpression(node)) return [];
    const { operatorToken } = node;
    return (table[operatorToken.getText(source)] ?? []).map((other) => replaced(operatorToken, source, other));
  };
}

function ofOperands(node: Node, source: SourceFile): readonly Change[] {
  if (!isBinaryExpression(node) || !['&&', '||', '??'].includes(node.operatorToken.getText(source))) return [];
  return [keptOnly(node, node.left, source), keptOnly(node, node.right, source)];
}

/** Not where texts are put together. */
function ofArithmetic(node: Node, source: SourceFile): readonly Change[] {
  if (isPrefixUnaryExpression(node) || isPostfixUnaryExpression(node)) return ofStep(node, source);
  if (!isBinaryExpression(node) || isText(node.left) || isText(node.right)) return [];
  return ofOperator('arithmetic')(node, source);
}

function ofStep(node: Node, source: SourceFile): readonly Change[] {
  const text = node.getText(source);
  if (text.includes('++')) return [replaced(node, source, text.replace('++', '--'))];
  return text.includes('--') ? [replaced(node, source, text.replace('--', '++'))] : [];
}

function ofStatement(node: Node, source: SourceFile): readonly Change[] {
  const isRemoved =
    isExpressionStatement(node) || isContinueStatement(node) || isBreakStatement(node) || isThrowStatement(node);
  if (!isRemoved && !(isReturnStatement(node) && isEarly(node))) return [];
  return [replaced(node, source, isBlock(node.parent) ? '' : '{}')];
}

/** In an if without else, so that what follows runs. */
function isEarly(node: Node): boolean {
  const { parent } = node;
  const holder = isBlock(parent) ? parent.parent : parent;
  return isIfStatement(holder) && holder.elseStatement === undefined;
}

function ofOtherCall(node: Node, source: SourceFile): readonly Change[] {
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return [];
  const { name } = node.expression;
  const other = Object.hasOwn(otherCalls, name.text) ? otherCalls[name.text] : undefined;
  return other === undefined ? [] : [replaced(name, source, other)];
}

function ofDroppedCall(node: Node, source: SourceFile): readonly Change[] {
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return [];
  const { name, expression } = node.expression;
  return droppedCalls.has(name.text) ? [keptOnly(node, expression, source)] : [];
}

function ofArray(node: Node, source: SourceFile): readonly Change[] {
  return isArrayLiteralExpression(node) && node.elements.length > 0 ? [replaced(node, source, '[]')] : [];
}

function ofText(node: Node, source: SourceFile): readonly Change[] {
  if (!isText(node) || isWording(node, source) || isNameOrTag(node)) return [];
  return node.getText(source).length <= 2 ? [] : [replaced(node, source, "''")];
}

/** The name of a property, or a template that a tag reads: SQL has a mutator of its own. */
function isNameOrTag(node: Node): boolean {
  const { parent } = node;
  if (parent.kind === SyntaxKind.TaggedTemplateExpression) return true;
  return 'name' in parent && parent.name === node;
}

function ofNumber(node: Node, source: SourceFile): readonly Change[] {
  return isNumericLiteral(node) ? [replaced(node, source, `(${node.getText(source)} + 1)`)] : [];
}

function ofBoolean(node: Node, source: SourceFile): readonly Change[] {
  if (node.kind === SyntaxKind.TrueKeyword) return [replaced(node, source, 'false')];
  return node.kind === SyntaxKind.FalseKeyword ? [replaced(node, source, 'true')] : [];
}
