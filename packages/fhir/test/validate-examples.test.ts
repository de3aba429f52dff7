/** Every official R4 instance: accepted, or refused for a listed defect; and read back as it was written. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { parseJson } from '../src/json.ts';
import { type ValidationRule, validateResource } from '../src/validate.ts';
import { rejectedDefinitions, rejectedExamples } from './rejected-examples.ts';

const folder = new URL('../../../node_modules/hl7.fhir.r4.examples/', import.meta.url);
const bulkDefinition = /^(StructureDefinition|ValueSet|CodeSystem|ConceptMap|SearchParameter|OperationDefinition)-/;
const files = readdirSync(folder).filter((name) => name.endsWith('.json') && name !== 'package.json');
const examples = files.filter((name) => !bulkDefinition.test(name));
const definitions = files.filter((name) => bulkDefinition.test(name));

interface Finding {
  readonly rule: ValidationRule;
  readonly paths: readonly string[];
  readonly count: number;
}

test('each of the 746 example instances is valid or has a listed defect', () => {
  assert.equal(examples.length, 746);
  const listed = mapValues(rejectedExamples, (defects) => defects.map(({ defect, ...finding }) => finding));
  assert.deepEqual(findingsOf(examples), listed);
});

test('each of the 4,560 bulk definitions is valid or has a listed defect', () => {
  assert.equal(definitions.length, 4560);
  const listed = mapValues(rejectedDefinitions, (defects) => defects.map(({ defect, ...finding }) => finding));
  assert.deepEqual(findingsOf(definitions), listed);
});

test('each example instance reads back equal, decimals digit by digit', () => {
  let decimals = 0;
  for (const name of examples) {
    const text = read(name);
    const written = JSON.stringify(parseJson(text));
    assert.deepEqual(JSON.parse(written), JSON.parse(text), name);
    const numbers = numbersOf(text);
    assert.deepEqual(numbersOf(written), numbers, name);
    decimals += numbers.filter((number) => String(Number(number)) !== number).length;
  }
  assert.ok(decimals > 100, `only ${decimals} decimals would have lost digits`);
});

function read(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8');
}

/** File → its issues, by rule; only files that have issues. */
function findingsOf(names: readonly string[]): Record<string, readonly Finding[]> {
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

/** The numbers of a JSON text, as they are written. */
function numbersOf(text: string): string[] {
  return text.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)?.filter((token) => !token.startsWith('"')) ?? [];
}

function mapValues<A, B>(table: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(value)]));
}
