/**
 * An XML text that was refused: why, and where.
 */

/**
 * `syntax`: not well-formed · `doctype`, `entity`: what could fetch or expand · `encoding`: not UTF-8 · `namespace`:
 * neither that of FHIR nor xhtml · `structure`: well-formed, but not how FHIR writes resources · `value`: not of its type.
 */
export type XmlRule =
  | 'syntax'
  | 'doctype'
  | 'entity'
  | 'encoding'
  | 'namespace'
  | 'structure'
  | 'value'
  | 'too-deep'
  | 'too-long';

/** The message begins with the path and ends with line and column. */
export class XmlError extends Error {
  readonly rule: XmlRule;
  /** Like `Patient.name[0]`; '' outside of the resource. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;

  constructor(rule: XmlRule, path: string, line: number, column: number, problem: string) {
    super(`${path === '' ? '' : `${path}: `}${problem} (line ${line}, column ${column})`);
    this.name = 'XmlError';
    this.rule = rule;
    this.path = path;
    this.line = line;
    this.column = column;
  }
}
