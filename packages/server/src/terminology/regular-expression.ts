/**
 * Regular expressions of value set filters, matched by RE2 in time that grows with pattern × text, no faster: firms and
 * callers write the patterns, and JavaScript's own matcher can be made to run for years (docs/decisions/0220). A pattern has
 * to match the whole text.
 *
 * https://hl7.org/fhir/R4/valueset-filter-operator.html · https://github.com/google/re2/wiki/Syntax
 */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import type { Effort } from './effort.ts';
import { measurePattern } from './pattern-size.ts';

/** What is wrong with a pattern; never leaves this module's callers as it is. */
export class PatternError extends Error {}

/** Characters of a pattern. */
const patternCharactersMax = 4_000;
/** Steps of a budget that compiling one part of a pattern takes, at most. */
const stepsPerPart = 100;
/** Characters that one step tries one part on. */
const charactersPerStep = 8;
/** Of the tables that matching fills for each part of a pattern. */
const bytesPerPart = 1_024;
/** Of what RE2 says about a pattern, in characters. */
const reasonMax = 100;

/**
 * A test for whole texts; `.` stands for line breaks, too.
 * @param effort is spent on compiling before it is done, and on each text before it is tried
 * @throws PatternError when RE2 does not understand the pattern; PraxisError `too-costly`
 */
export function compilePattern(pattern: string, effort: Effort): (text: string) => boolean {
  if (pattern.length > patternCharactersMax) {
    throw new PatternError(`has more than ${patternCharactersMax} characters`);
  }
  requireUnderstood(pattern);
  const size = measurePattern(pattern);
  effort.spend(size * stepsPerPart);
  effort.take(size * bytesPerPart);
  const compiled = compile(pattern);
  return (text) => {
    effort.spend(Math.ceil((size * (text.length + 1)) / charactersPerStep));
    return compiled.matches(text);
  };
}

const unusual = /\\[\s\S]|\(\?(?!:)/g;

/** Flags may make one range of characters cost as much as a thousand; quotations hide parts from `measurePattern`. */
function requireUnderstood(pattern: string): void {
  for (const [part] of pattern.matchAll(unusual)) {
    if (part === '(?') throw new PatternError('has a group (?…) of another kind than (?:…)');
    if (part === '\\Q' || part === '\\E') throw new PatternError(`has ${part}, which is not understood`);
  }
}

let library: typeof import('re2js') | undefined;

/** Its tables of characters are large, and few filters have a pattern: only those load it. */
function loadLibrary(): typeof import('re2js') {
  library ??= createRequire(import.meta.url)('re2js') as typeof import('re2js');
  return library;
}

function compile(pattern: string): RE2JS {
  const { RE2JS, RE2JSException } = loadLibrary();
  try {
    return RE2JS.compile(pattern, RE2JS.DOTALL);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, '');
    throw new PatternError(`is not understood: ${reason.slice(0, reasonMax)}`);
  }
}
