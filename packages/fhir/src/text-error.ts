/** Faults of texts that are read, JSON and XML. */

/** A text that was refused. The message begins with the path and ends with line and column. */
export class TextError<Rule extends string> extends Error {
  readonly rule: Rule;
  /** Like `Patient.name[0]`; of JSON without the type when `resourceType` was not read before the fault; '' outside of all. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;

  /** @param before the text up to the fault */
  constructor(rule: Rule, path: string, before: string, problem: string) {
    const lines = before.split(/\r\n|\n|\r/);
    const column = (lines.at(-1)?.length ?? 0) + 1;
    super(`${path === '' ? '' : `${path}: `}${problem} (line ${lines.length}, column ${column})`);
    this.rule = rule;
    this.path = path;
    this.line = lines.length;
    this.column = column;
  }
}

/** A name as a message may quote it. */
export function shortenName(name: string, lengthMax = 64): string {
  return name.length > lengthMax ? `${name.slice(0, lengthMax)}…` : name;
}

/** 'U+0007'. */
export function formatCodePoint(point: number): string {
  return `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The first half of a surrogate pair that stands alone, in a text that is not well-formed. */
export function findLoneSurrogate(text: string): number {
  return text.search(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
}
