/** What a mutator proposes for a node of the syntax tree, and the parts of which most proposals are made. */
import type { Node, SourceFile } from 'typescript/unstable/ast';

/** A replacement of a part of the source. */
export interface Change {
  /** Offsets in the source, first included and last not. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export interface Mutator {
  readonly name: string;
  /** What it does, for the report. */
  readonly says: string;
  /** The changes that begin at this very node. */
  readonly of: (node: Node, source: SourceFile) => readonly Change[];
}

/** The node's text is another. */
export function replaced(node: Node, source: SourceFile, replacement: string): Change {
  return { start: node.getStart(source), end: node.end, replacement };
}

/** Only a part of the node is left. */
export function keptOnly(node: Node, part: Node, source: SourceFile): Change {
  return replaced(node, source, source.text.slice(part.getStart(source), part.end));
}
