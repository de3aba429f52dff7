/** Mistakes in SQL: in the text of `sql` templates, between what they bind. */
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import { isTaggedTemplateExpression } from 'typescript/unstable/ast/is';
import type { Change, Mutator } from './changes.ts';
import { nameOf } from './wording.ts';

/** What is changed, by what stands in its place; longer ones first, as they hold shorter ones. */
const swaps: readonly (readonly [found: string, other: string])[] = [
  ['IS NOT NULL', 'IS NULL'],
  ['IS NULL', 'IS NOT NULL'],
  ['NOT EXISTS', 'EXISTS'],
  ['NULLS LAST', 'NULLS FIRST'],
  ['NULLS FIRST', 'NULLS LAST'],
  ['UNION ALL', 'EXCEPT ALL'],
  [' AND ', ' OR '],
  [' OR ', ' AND '],
  [' DESC', ' ASC'],
  [' <= ', ' < '],
  [' >= ', ' > '],
  [' <> ', ' = '],
  [' < ', ' <= '],
  [' > ', ' >= '],
  [' = ', ' <> '],
  ['DISTINCT ', ''],
  ['NOT (', '('],
];

const literalKinds: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
]);

export const sqlMutator: Mutator = {
  name: 'SQL',
  says: 'in SQL a comparison is moved or turned round, AND is OR, IS NULL is IS NOT NULL, an order is turned round …',
  of: (node, source) => (literalKinds.has(node.kind) && isSql(node) ? swapsIn(node, source) : []),
};

function isSql(node: Node): boolean {
  for (let above = node.parent, depth = 0; depth < 3; above = above.parent, depth++) {
    if (isTaggedTemplateExpression(above)) return nameOf(above.tag) === 'sql';
    if (above.kind !== SyntaxKind.TemplateExpression && above.kind !== SyntaxKind.TemplateSpan) return false;
  }
  return false;
}

function swapsIn(node: Node, source: SourceFile): readonly Change[] {
  const begin = node.getStart(source);
  const text = source.text.slice(begin, node.end);
  const changes: Change[] = [];
  for (let at = 0; at < text.length; ) {
    const swap = swaps.find(([found]) => text.startsWith(found, at));
    if (swap) changes.push({ start: begin + at, end: begin + at + swap[0].length, replacement: swap[1] });
    // A blank that ends one word begins the next.
    at += swap ? Math.max(1, swap[0].trimEnd().length) : 1;
  }
  return changes;
}
