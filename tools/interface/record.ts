/** Reading docs/contribute/interface.md and the names of tests. */

/** A row of one of the document's tables that begins with a rule in code quotes. */
export interface RecordRow {
  readonly rule: string;
  /** Of the document, from 1. */
  readonly line: number;
  /** What stands between the rule and the last cell. */
  readonly said: readonly string[];
  /** From the last cell, `file › name`. */
  readonly tests: readonly TestReference[];
}

export interface TestReference {
  readonly file: string;
  readonly name: string;
}

/** The rows of all tables, in order. */
export function rowsOf(document: string): RecordRow[] {
  return document.split('\n').flatMap((text, index) => {
    if (!text.startsWith('| `')) return [];
    const [first = '', ...cells] = text
      .slice(1, text.lastIndexOf('|'))
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|'));
    const last = cells.pop() ?? '';
    const rule = /^`([^`]+)`$/.exec(first)?.[1];
    if (rule === undefined) return [];
    return [{ rule, line: index + 1, said: cells, tests: referencesOf(last) }];
  });
}

function referencesOf(cell: string): TestReference[] {
  return cell.split('<br>').flatMap((part) => {
    const [, file, name] = /^`([^`]+)` › (.+)$/.exec(part.trim()) ?? [];
    return file === undefined || name === undefined ? [] : [{ file, name }];
  });
}

const testCall = /\btest\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;

/** The names of a source's tests as they are written; those that are computed are not found. */
export function testNamesOf(source: string): string[] {
  return [...source.matchAll(testCall)].map(([, single, double, template]) =>
    (single ?? double ?? template ?? '').replaceAll(/\\(['"`\\])/g, '$1'),
  );
}
