/** An XML text that was refused: why, and where. */
import { TextError } from '../text-error.ts';

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

export class XmlError extends TextError<XmlRule> {
  override readonly name = 'XmlError';
}
