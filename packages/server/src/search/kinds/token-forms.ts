/**
 * The forms in which rows of `index_token` hold codes, so that what is the same code is the same text.
 * https://hl7.org/fhir/R4/search.html#token and docs/decisions/0034
 */
import { boundKey } from '../index/bounded-key.ts';
import { isCaseSensitiveSystem } from './code-systems.ts';
import type { ParameterFacts } from './kind.ts';
import { foldCase } from './text-folding.ts';

/**
 * The forms in which rows can hold `code`: as it is where case counts, folded where it does not. R4: case-sensitive
 * unless the semantics say otherwise; `string` is not; in doubt (identifiers, systems unknown to us) it is not.
 * @param system undefined: any; empty: none
 */
export function codeForms(code: string, system: string | undefined, facts: ParameterFacts): readonly string[] {
  const forms = new Set<string>();
  for (const type of facts.dataTypes) {
    for (const form of formsOfType(type, code, system, facts)) forms.add(boundKey(form));
  }
  return [...forms];
}

function formsOfType(type: string, code: string, system: string | undefined, facts: ParameterFacts): readonly string[] {
  switch (type) {
    case 'Identifier':
    case 'string':
    case 'markdown':
      return [foldCase(code)];
    case 'ContactPoint':
      return [normalizeContact(code)];
    case 'code':
      return [normalizeCode(code, facts)];
    case 'Coding':
    case 'CodeableConcept':
      return system === undefined ? [code, foldCase(code)] : [normalizeCoding(code, system)];
    case '*':
      return [code, foldCase(code), normalizeContact(code)];
    default:
      return [code];
  }
}

/** A code of a Coding as rows hold it. */
export function normalizeCoding(code: string, system: string): string {
  return isCaseSensitiveSystem(system) ? code : foldCase(code);
}

/** Codes of closed value sets are HL7's and case-sensitive; open ones hold languages and media types, which are not. */
export function normalizeCode(code: string, facts: ParameterFacts): string {
  return facts.codeSystems.size > 0 ? code : foldCase(code);
}

/** Telephone numbers without their punctuation; other contacts without their case. */
export function normalizeContact(value: string): string {
  if (!/^[\d\s()+./-]*\d[\d\s()+./-]*$/.test(value)) return foldCase(value.trim());
  return value.replace(/\D/g, '');
}
