/**
 * What the engine makes of R4's value sets, compared with the expansions that HL7 publishes with R4 (npm
 * hl7.fhir.r4.expansions): https://hl7.org/fhir/R4/downloads.html
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PraxisError } from '../../src/base/errors.ts';
import { type ExpandedCoding, openTerminology } from '../../src/terminology/terminology.ts';
import { openRequestBudget } from '../support/request-budget.ts';

interface Entry {
  readonly system?: string;
  readonly code?: string;
  readonly abstract?: boolean;
  readonly contains?: readonly Entry[];
}

interface Official {
  readonly url: string;
  readonly expansion?: {
    readonly extension?: readonly { readonly url: string }[];
    readonly contains?: readonly Entry[];
  };
}

const folder = fileURLToPath(new URL('../../../../node_modules/hl7.fhir.r4.expansions/', import.meta.url));
const official = readdirSync(folder)
  .filter((name) => name.startsWith('ValueSet-') && name.endsWith('.json'))
  .map((name): Official => JSON.parse(readFileSync(folder + name, 'utf8')))
  // Expansions that list some of the codes only.
  .filter(({ expansion }) => expansion && !expansion.extension?.some(({ url }) => url.endsWith('toocostly')));

const differing = [
  // HL7's expansion follows the nesting alone and not the further parents that v3-ActCode gives by its property `child`.
  'http://hl7.org/fhir/ValueSet/detectedissue-category',
  // It lists some retired codes of a system and leaves out others.
  'http://hl7.org/fhir/ValueSet/security-labels',
  // Its system is written with its version in HL7's expansion.
  'http://terminology.hl7.org/ValueSet/v2-2.7-0360',
  // As for security-labels.
  'http://terminology.hl7.org/ValueSet/v3-ActCode',
  // As for detectedissue-category.
  'http://terminology.hl7.org/ValueSet/v3-ActPharmacySupplyType',
];

/** Systems that R4 does not hold. */
const absentSystems = ['http://loinc.org', 'http://snomed.info/sct'];

function codesOf(entries: readonly Entry[] = []): string[] {
  return entries.flatMap(({ system, code, abstract, contains }) => [
    ...(code === undefined || abstract ? [] : [`${system} ${code}`]),
    ...codesOf(contains),
  ]);
}

function listed(codings: readonly ExpandedCoding[]): string {
  return codings
    .map(({ system, code }) => `${system} ${code}`)
    .sort()
    .join('\n');
}

const outcomes = new Map<string, string>();
for (const { url, expansion } of official) {
  const theirs = [...new Set(codesOf(expansion?.contains))].sort().join('\n');
  outcomes.set(url, await compare(url, theirs));
}

async function compare(url: string, theirs: string): Promise<string> {
  try {
    const { codings } = await openTerminology(openRequestBudget()).expand(url);
    // HL7 leaves groups out, and deprecated codes of systems that are included as a whole.
    const chosen = codings.filter(({ isAbstract }) => !isAbstract);
    if (listed(codings) === theirs || listed(chosen) === theirs) return 'equal';
    return listed(chosen.filter(({ isInactive }) => !isInactive)) === theirs ? 'equal' : 'different';
  } catch (error) {
    if (!(error instanceof PraxisError)) throw error;
    return `${error.code} ${absentSystems.find((system) => error.details.diagnostics.includes(system))}`;
  }
}

function urlsOf(outcome: (text: string) => boolean): string[] {
  return [...outcomes].filter(([, text]) => outcome(text)).map(([url]) => url);
}

test('published expansions are found again', () => {
  assert.deepEqual(
    urlsOf((text) => text === 'different'),
    differing,
  );
  assert.ok(urlsOf((text) => text === 'equal').length >= 495, [...outcomes.values()].sort().join());
});

test('nothing is refused but what takes codes from a system that is not loaded', () => {
  const refusals = absentSystems.map((system) => `code-system-unknown ${system}`);
  assert.deepEqual(
    urlsOf((text) => text !== 'equal' && text !== 'different' && !refusals.includes(text)),
    [],
  );
});

test('each code of a published expansion is a member, and an invented one is not', async () => {
  const terminology = openTerminology(openRequestBudget());
  const wrong: string[] = [];
  for (const { url, expansion } of official) {
    if (outcomes.get(url) !== 'equal') continue;
    for (const entry of (expansion?.contains ?? []).slice(0, 20)) {
      if (entry.system === undefined || entry.code === undefined) continue;
      const { is } = await terminology.contains(url, { system: entry.system, code: entry.code });
      const other = await terminology.contains(url, { system: entry.system, code: 'no such code' });
      if (is !== 'member' || other.is === 'member') wrong.push(`${url} ${entry.code}`);
    }
  }
  assert.deepEqual(wrong, []);
});
