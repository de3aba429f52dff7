/** What the validator finds in the official R4 instances: of the examples, and of the bulk definitions beside them. */
import { readdirSync, readFileSync } from 'node:fs';
import { parseJson } from '../src/json.ts';
import { type ValidationRule, validateResource } from '../src/validate.ts';

const folder = new URL('../../../node_modules/hl7.fhir.r4.examples/', import.meta.url);
const bulkDefinition = /^(StructureDefinition|ValueSet|CodeSystem|ConceptMap|SearchParameter|OperationDefinition)-/;
const files = readdirSync(folder).filter((name) => name.endsWith('.json') && name !== 'package.json');
/** File names of instances, and of those that hold definitions. */
export const examples = files.filter((name) => !bulkDefinition.test(name));
export const definitions = files.filter((name) => bulkDefinition.test(name));

interface Finding {
  readonly rule: ValidationRule;
  readonly paths: readonly string[];
  readonly count: number;
}

/** The text of a file. */
export function read(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8');
}

/** File → its issues, by rule; only files that have issues. */
export function findingsOf(names: readonly string[]): Record<string, readonly Finding[]> {
  const findings: Record<string, readonly Finding[]> = {};
  for (const name of names) {
    const byRule = new Map<ValidationRule, string[]>();
    for (const { rule, path } of validateResource(parseJson(read(name)))) {
      byRule.set(rule, [...(byRule.get(rule) ?? []), path.replace(/\[\d+\]/g, '')]);
    }
    if (byRule.size === 0) continue;
    findings[name] = [...byRule].map(([rule, paths]) => ({ rule, paths: [...new Set(paths)], count: paths.length }));
  }
  return findings;
}

/** The findings that are listed, without the words about each. */
export function listedFindings(
  table: Readonly<Record<string, readonly (Finding & { readonly defect: string })[]>>,
): Record<string, readonly Finding[]> {
  return Object.fromEntries(
    Object.entries(table).map(([file, defects]) => [file, defects.map(({ defect, ...finding }) => finding)]),
  );
}
