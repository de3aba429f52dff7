/**
 * String search: https://hl7.org/fhir/R4/search.html#string. The tables state what the specification's text says.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { foldText } from '../../src/search/kinds/text-folding.ts';
import { checkGolden, type Golden } from './golden.ts';
import { openSearchWorld } from './world.ts';

const patient = (id: string, name: object) => ({ resourceType: 'Patient', id, name: [name] });

const patients = [
  patient('eve', { family: 'Carreno Quinones', given: ['Eve'], prefix: ['Dr.'], use: 'official' }),
  patient('evelyn', { family: "O'Brien", given: ['Evelyn'], suffix: ['Jr.'] }),
  patient('severine', { family: 'Müller-Lüdenscheidt', given: ['Severine', 'Ann'] }),
  patient('upper', { text: 'EVE ØSTERGÅRD', family: 'ØSTERGÅRD', given: ['EVE'] }),
  patient('greek', { family: 'Σίσυφος', given: ['Ὀδυσσεύς'] }),
  patient('chinese', { text: '王小明' }),
  {
    resourceType: 'Patient',
    id: 'nameless',
    address: [
      {
        line: ['534  Erewhon\tSt'],
        city: 'Pleasant Ville',
        district: 'Rainbow',
        state: 'Vic',
        postalCode: '3999',
        country: 'AU',
      },
    ],
  },
  patient('long', { family: `${'x'.repeat(2000)}a`, given: [`${'ü'.repeat(1500)}`] }),
  patient('long2', { family: `${'x'.repeat(2000)}b` }),
  // Twenty-one words.
  patient('wordy', { family: [...'abcdefghijklmnopqrstu'].map((letter) => `w${letter}`).join(' ') }),
];

const table: Golden = [
  // "[base]/Patient?given=eve … would include patients with the given name "Eve", "Evelyn""
  ['given=eve', ['eve', 'evelyn', 'upper']],
  ['given:contains=eve', ['eve', 'evelyn', 'severine', 'upper']],
  // "would not include patients with the given name "eve" or "EVE""
  ['given:exact=Eve', ['eve']],
  ['given:exact=eve', []],
  ['given:exact=EVE', ['upper']],
  ['given=ann', ['severine']],
  // "searching either "Carreno" or "Quinones" should match a family name of "Carreno Quinones""
  ['family=Carreno', ['eve']],
  ['family=Quinones', ['eve']],
  ['family=carreno quin', ['eve']],
  ['family:exact=Quinones', []],
  ['family:exact=Carreno Quinones', ['eve']],
  // By each of its first twenty words, and by any part of it.
  ['family=wt', ['wordy']],
  ['family=wu', []],
  ['family:contains=wu', ['wordy']],
  // Case and combining characters, on both sides.
  ['family=MULLER', ['severine']],
  ['family=müller', ['severine']],
  ['family=lüd', ['severine']],
  ['family=ostergard', ['upper']],
  ['family=σισυφος', ['greek']],
  ['family=ΣΙΣΥ', ['greek']],
  ['family:exact=Muller-Ludenscheidt', []],
  ['family:exact=Mu\u0308ller-Lu\u0308denscheidt', ['severine']],
  // "Punctuation and non-significant whitespace … should also be ignored."
  ['family=obrien', ['evelyn']],
  ["family=o'brien", ['evelyn']],
  ['family=o’brien', ['evelyn']],
  ['family=müller lüdenscheidt', ['severine']],
  ['family=müller - lüdenscheidt', ['severine']],
  ['address=534 Erewhon St', ['nameless']],
  ['address=534 erewhon, st.', ['nameless']],
  ['address=vic', ['nameless']],
  ['address=rainbow', ['nameless']],
  ['address-city=pleasant', ['nameless']],
  ['address-city=ville', []],
  ['address-city:contains=ville', ['nameless']],
  ['address-postalcode=3999', ['nameless']],
  // A whole HumanName: every part of it, and the parts together; not its use.
  ['name=eve', ['eve', 'evelyn', 'upper']],
  ['name=dr', ['eve']],
  ['name=jr', ['evelyn']],
  ['name=eve carreno', ['eve']],
  ['name=official', []],
  ['name=王', ['chinese']],
  ['name:contains=小', ['chinese']],
  ['name:exact=王小明', ['chinese']],
  ['name:missing=true', ['nameless']],
  ['family:missing=true', ['chinese', 'nameless']],
  ['name=eve,obrien', ['eve', 'evelyn', 'upper']],
  ['name=eve&name=carreno', ['eve']],
  ['given=eve&family:contains=quin', ['eve']],
  // Values beyond what an index entry holds are found by their beginning and as a whole.
  [`family=${'x'.repeat(500)}`, ['long', 'long2']],
  [`family:exact=${'x'.repeat(2000)}a`, ['long']],
  [`family=${'x'.repeat(2000)}b`, ['long', 'long2']],
  [`given=${'u'.repeat(1200)}`, ['long']],
];

test('string search by beginning, part and whole', async (t) => {
  const world = await openSearchWorld(t);
  await world.load(patients);
  await checkGolden(t, world, 'Patient', table);
});

test('every text part of a name and of an address is found', async (t) => {
  const world = await openSearchWorld(t);
  const names = { text: 'tex', family: 'fam', given: ['giv'], prefix: ['pre'], suffix: ['suf'] };
  const places = {
    text: 'who',
    line: ['lin'],
    city: 'cit',
    district: 'dis',
    state: 'sta',
    postalCode: 'pos',
    country: 'cou',
  };
  await world.load([
    { ...patient('parts', names), address: [places] },
    { resourceType: 'Patient', id: 'other' },
  ]);
  await checkGolden(t, world, 'Patient', [
    ...Object.values(names).map((value) => [`name=${value}`, ['parts']] as const),
    ...Object.values(places).map((value) => [`address=${value}`, ['parts']] as const),
  ]);
});

test('folded text keeps letters and digits alone', () => {
  const folded: Readonly<Record<string, string>> = {
    'Ann-Marie  de la Cruz': 'ann marie de la cruz',
    "D'Arcy": 'darcy',
    Straße: 'strasse',
    STRASSE: 'strasse',
    İstanbul: 'istanbul',
    Łódź: 'lodz',
    Æsir: 'aesir',
    Þórður: 'thordur',
    ﬁne: 'fine',
    हिन्दी: 'हिन्दी',
    กำ: 'กํา'.normalize('NFC'),
    한국: '한국',
    '...': '',
    '  a.b,c  ': 'a b c',
    'a+b': 'a+b',
  };
  for (const [text, expected] of Object.entries(folded)) assert.equal(foldText(text), expected, text);
});

test('a long text is folded piece by piece as it is as a whole: its words, whatever they are', () => {
  const words = ["O'Brien", 'Łódź,', 'ß', '`', '\u0301e', 'Ὀδυσσεύς', '王小明', '—', 'ΣΊΣΥΦΟΣ', 'a\tb', 'Zoë\u0308'];
  const text = Array.from({ length: 6_000 }, (_, at) => words[(at * 7 + Math.trunc(at / 11)) % words.length]).join(' ');
  const folded = text
    .split(' ')
    .map(foldText)
    .filter((word) => word !== '');
  assert.ok(text.length > 20_000);
  assert.equal(foldText(text), folded.join(' '));
  assert.equal(foldText(` ${'x'.repeat(30_000)} y `), `${'x'.repeat(30_000)} y`);
});
