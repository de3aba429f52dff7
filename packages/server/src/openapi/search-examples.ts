/**
 * A value for each search parameter that the service takes, by the datatypes of the elements that it selects
 * (https://hl7.org/fhir/R4/search.html#ptypes). Tests ask for each of them.
 */
import type { SearchParameterKind } from '@praxis/fhir';
import type { Parameter } from '../search/kinds/kind.ts';
import { getStandardParameters } from '../search/parameters.ts';

/** Tokens by datatype, in the order in which they count for a parameter that has several. */
const tokens: readonly (readonly [dataType: string, example: string])[] = [
  ['Identifier', 'http://hl7.org/fhir/sid/us-ssn|444555666'],
  ['CodeableConcept', 'http://loinc.org|8480-6'],
  ['Coding', 'http://loinc.org|8480-6'],
  ['ContactPoint', '555-0136'],
  ['boolean', 'true'],
  ['id', '1'],
];

/** Of kinds whose values look the same whatever the element. */
const ofKinds: Readonly<Partial<Record<SearchParameterKind, string>>> = {
  string: 'quill',
  date: 'ge2026-11-01',
  number: 'gt0.8',
  quantity: '5.4|http://unitsofmeasure.org|mg',
  uri: 'http://hl7.org/fhir/ValueSet/languages',
  special: '42.3|-71.1|5|km',
};

/** A value that a search of the type takes for the parameter; undefined where the type has no such parameter. */
export function makeSearchExample(type: string, code: string): string | undefined {
  const parameter = getStandardParameters(type).get(code);
  return parameter && makeExample(parameter);
}

function makeExample(parameter: Parameter): string {
  const { definition, parts } = parameter;
  if (definition.code === 'age' && definition.expression === undefined) return 'ge18';
  switch (definition.type) {
    case 'composite':
      return parts.map(makeExample).join('$');
    case 'token':
      return makeToken(parameter);
    case 'reference':
      return makeReference(parameter);
    default:
      return ofKinds[definition.type] ?? '1';
  }
}

/** The first code of a closed value set; else a value of the datatype, and a plain one of datatypes without systems. */
function makeToken({ facts }: Parameter): string {
  const [code] = facts.codeSystems.keys();
  return code ?? tokens.find(([dataType]) => facts.dataTypes.has(dataType))?.[1] ?? 'example';
}

function makeReference({ definition: { targets }, facts }: Parameter): string {
  if (!facts.dataTypes.has('Reference') && facts.dataTypes.has('canonical')) return 'http://example.com/fhir/example';
  return `${targets.includes('Patient') ? 'Patient' : (targets[0] ?? 'Patient')}/1`;
}
