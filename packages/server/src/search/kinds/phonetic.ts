/**
 * `phonetic`: names that sound alike, word by word. https://hl7.org/fhir/R4/patient.html#search
 */

import type { JsonValue, TypedValue } from '@praxis/fhir';
import { buildManyValuesSearch } from '../../base/worst-case.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { boundKey } from '../index/bounded-key.ts';
import type { IndexRowBuilder } from '../index/index-row-builder.ts';
import { findText, listTexts } from '../json-values.ts';
import { refuseValue, unescapeValue } from '../query/search-values.ts';
import {
  makeAll,
  type Parameter,
  type RowParts,
  readBy,
  type SearchKind,
  selectivities,
  type Test,
  type ValueContext,
} from './kind.ts';
import { encodeSoundex } from './sound.ts';
import { foldInParts, foldText } from './text-folding.ts';

/** Words of one value, in a query and in a name, at most. */
const wordsMax = 20;

export const phonetic: SearchKind = {
  worstCase: {
    because: 'as many sounds as one parameter takes',
    request: () => buildManyValuesSearch('Patient', 'phonetic', (n) => `Sm${'abcdefgh'[n % 8]}th${n}`),
  },
  ...readBy('string', { '': parse }),
  looksFurther: true,
  sortable: false,
  index: (value, parameter, context, rows) => makeAll(indexSounds(value, parameter, context, rows)),
  indexInParts: indexSounds,
};

/** Every word of the value sounds like a word of the name. */
function parse(text: string, { name, parameter }: ValueContext): Test {
  const [first, ...others] = soundsOf(foldText(unescapeValue(text, name)));
  if (first === undefined) refuseValue(name, 'needs a name with at least one letter');
  const conditions = others.map((sound) => alsoSounds(sound, parameter.number));
  return {
    where: sql.join([sql`value = ${first}`, ...conditions], sql` AND `),
    order: 'rid',
    selectivity: selectivities.some,
    ...(others.length === 0 ? { value: first } : {}),
  };
}

/** Renamed columns of the inner rows leave the plain names to the row outside. */
function alsoSounds(sound: string, number: number): Sql {
  return sql`EXISTS (SELECT 1 FROM (
    SELECT firm AS sound_firm, param AS sound_param, rid AS sound_rid, value AS sound FROM index_string) s
    WHERE sound_firm = firm AND sound_param = ${number} AND sound_rid = rid AND sound = ${sound})`;
}

function soundsOf(folded: string): readonly string[] {
  const words = folded.split(' ', wordsMax).filter((word) => word !== '');
  return [...new Set(words.map((word) => boundKey(encodeSoundex(word))))];
}

function* indexSounds(
  { value }: TypedValue,
  { number }: Parameter,
  _context: unknown,
  rows: IndexRowBuilder,
): RowParts {
  for (const text of namesOf(value)) {
    for (const sound of soundsOf(yield* foldInParts(text))) rows.string(number, sound, '');
  }
}

function namesOf(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value];
  return [...listTexts(value, 'given'), findText(value, 'family') ?? '', findText(value, 'text') ?? ''];
}
