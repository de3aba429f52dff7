/**
 * Units of measure in a form in which equal quantities have equal numbers: 5 mg and 0.005 g, 98.6 °F and 37 °C. Units are
 * those of UCUM (https://ucum.org/ucum); R4 lets a search compare by them: https://hl7.org/fhir/R4/search.html#quantity.
 */
import { createRequire } from 'node:module';
import type { BudgetedWork, StepBudget } from '@praxis/fhir';
import { LRUCache } from 'lru-cache';
import { boundEntries } from '../../base/bounded-entries.ts';

export const ucumSystem = 'http://unitsofmeasure.org';

/** A unit in terms of base units: a value means `value × factor + offset` of them. */
export interface CanonicalUnit {
  /** Product of powers of base units, such as `g.m-3`; empty for the unit 1. */
  readonly base: string;
  readonly factor: number;
  /** Not 0 for temperatures, whose scales begin at different points. */
  readonly offset: number;
}

/** Longest unit that is looked at; the longest one in practice has 30 characters. */
const unitLengthMax = 80;

/** What units are written in: https://ucum.org/ucum#section-Character-Set-and-Lexical-Rules */
const unitCharacters = /^[!-~]+$/;

/** Units that are remembered, also those that are none; practices use a few hundred. */
const unitsMax = 5_000;

/** What a character costs of a unit that is not remembered, in steps: 80 of them take the library 0.2 ms. */
const stepsPerCharacter = 50;

const readingUnits: BudgetedWork = {
  what: 'Reading the units of measure',
  cheaper: 'send fewer different units, or several resources',
};

/** Significant digits that a converted value keeps: less than a double has, so that 60/min and 1 Hz become the same. */
const convertedDigits = 12;

/** Particles in a mole, as the library has it; taken out again, so that amounts keep their decimals. */
const mole = 6.0221367e23;

/** Base units in the order of the library's vector of dimensions. */
const baseUnits = ['m', 's', 'g', 'rad', 'K', 'C', 'cd'] as const;

/** The part of the library that is used; it has no types of its own. */
interface UnitLibrary {
  getSpecifiedUnit(
    code: string,
    purpose: 'validate',
  ): { readonly unit: Unit | null; readonly retMsg: readonly string[] };
}

interface Unit {
  readonly magnitude_: number;
  readonly dim_: { readonly dimVec_: readonly number[] | null } | null;
  readonly moleExp_: number;
  readonly isArbitrary_: boolean;
  readonly isSpecial_: boolean;
}

const known = new LRUCache<string, { readonly unit: CanonicalUnit | undefined }>(boundEntries(unitsMax));
let library: UnitLibrary | undefined;

/**
 * The unit in terms of base units; undefined for what is no unit of UCUM, and for units that cannot be compared with
 * others: arbitrary ones (`[iU]`), and logarithmic and other special ones except temperatures.
 * @param budget spent by units that are not remembered, where a sender chooses how many there are
 */
export function findCanonicalUnit(code: string, budget?: StepBudget): CanonicalUnit | undefined {
  if (code.length > unitLengthMax || !unitCharacters.test(code)) return undefined;
  const found = known.get(code);
  if (found !== undefined) return found.unit;
  budget?.spend(stepsPerCharacter * code.length, readingUnits);
  const unit = inBaseUnits(code);
  known.set(code, { unit });
  return unit;
}

/**
 * The value in base units, as text that PostgreSQL reads as a number; undefined where it is beyond a double. Open ends
 * of ranges stay open.
 */
export function toBaseUnit(text: string, { factor, offset }: CanonicalUnit): string | undefined {
  const value = Number(text);
  if (!Number.isFinite(value)) return text;
  const converted = Number((value * factor + offset).toPrecision(convertedDigits));
  const lost = !Number.isFinite(converted) || (converted === 0 && value !== 0 && offset === 0);
  return lost ? undefined : String(converted);
}

function inBaseUnits(code: string): CanonicalUnit | undefined {
  library ??= loadLibrary();
  const { unit, retMsg } = library.getSpecifiedUnit(code, 'validate');
  // A message says that the code was taken for another one: a name, or a unit without its brackets.
  if (unit === null || retMsg.length > 0 || unit.isArbitrary_) return undefined;
  const base = [...(unit.dim_?.dimVec_ ?? []), unit.moleExp_]
    .flatMap((power, place) => (power === 0 ? [] : [`${baseUnits[place] ?? 'mol'}${power === 1 ? '' : power}`]))
    .join('.');
  if (unit.isSpecial_) return temperature(code, base);
  const factor = unit.magnitude_ / mole ** unit.moleExp_;
  return Number.isFinite(factor) && factor > 0 ? { base, factor, offset: 0 } : undefined;
}

const temperatures: Readonly<Record<string, Pick<CanonicalUnit, 'factor' | 'offset'>>> = {
  Cel: { factor: 1, offset: 273.15 },
  '[degF]': { factor: 5 / 9, offset: 273.15 - (32 * 5) / 9 },
  '[degRe]': { factor: 1.25, offset: 273.15 },
};

/** Temperatures by themselves: a rate per degree has no zero point that could be moved. */
function temperature(code: string, base: string): CanonicalUnit | undefined {
  const scale = Object.hasOwn(temperatures, code) ? temperatures[code] : undefined;
  return scale && { base, ...scale };
}

/** About 30 ms, which only those pay who have units to compare. */
function loadLibrary(): UnitLibrary {
  const load = createRequire(import.meta.url);
  const { UcumLhcUtils }: { UcumLhcUtils: { getInstance(): UnitLibrary } } = load('@lhncbc/ucum-lhc');
  return UcumLhcUtils.getInstance();
}
