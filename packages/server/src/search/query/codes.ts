/**
 * Codes that the modifiers of token parameters stand for: `:in` and `:not-in` name a value set, `:above` and `:below` a
 * place in the hierarchy of a code system (https://hl7.org/fhir/R4/search.html#token). They are asked of the terminology
 * before a search is read, since reading it is synchronous.
 */
import { PraxisError } from '../../base/errors.ts';
import { refuseValue, splitUnescaped, unescapeValue } from './search-values.ts';

export interface CodeOfSystem {
  readonly system: string;
  readonly code: string;
}

/** What the terminology is asked; see `Terminology` of the module terminology, which this module cannot import. */
export interface CodeSource {
  /** The codes of a value set. */
  codings(canonical: string): Promise<readonly CodeOfSystem[]>;
  /** The code and all that it subsumes. */
  descendants(system: string, code: string): Promise<readonly string[]>;
  /** The code and all that subsume it. */
  ancestors(system: string, code: string): Promise<readonly string[]>;
}

/** By `buildCodesKey`: the codes, or why there are none; that is thrown only if the parameter turns out to be a token. */
export type ResolvedCodes = ReadonlyMap<string, readonly CodeOfSystem[] | PraxisError>;

/** Value sets and concepts of one search at most: each may be read from the firm's own resources. */
const resolvedMax = 50;

const modifierAtEnd = /:(in|not-in|above|below)$/;

/** Under which the codes of a value, still escaped, are found. */
export function buildCodesKey(modifier: string, text: string): string {
  return `${modifier === 'not-in' ? 'in' : modifier}=${text}`;
}

/**
 * The codes that the parameters ask for by modifiers, over chains too. Undefined when there are none to resolve.
 * @throws PraxisError `search-invalid` for too many of them
 */
export async function resolveCodes(
  parameters: readonly (readonly [name: string, value: string])[],
  source: CodeSource,
): Promise<ResolvedCodes | undefined> {
  const resolved = new Map<string, readonly CodeOfSystem[] | PraxisError>();
  for (const [name, value] of parameters) {
    const modifier = modifierAtEnd.exec(name)?.[1];
    if (modifier === undefined) continue;
    for (const text of splitUnescaped(value, ',')) {
      const key = buildCodesKey(modifier, text);
      if (resolved.has(key)) continue;
      if (resolved.size === resolvedMax)
        refuseValue(name, `is one of more than ${resolvedMax} value sets and concepts`);
      resolved.set(key, await catchProblem(resolve(modifier, text, name, source)));
    }
  }
  return resolved.size > 0 ? resolved : undefined;
}

async function resolve(
  modifier: string,
  text: string,
  name: string,
  source: CodeSource,
): Promise<readonly CodeOfSystem[]> {
  if (modifier === 'in' || modifier === 'not-in') {
    const canonical = unescapeValue(text, name);
    if (canonical === '') refuseValue(name, 'has no value: it takes the URL of a value set');
    return await source.codings(canonical);
  }
  const [system = '', code = '', ...more] = splitUnescaped(text, '|').map((part) => unescapeValue(part, name));
  if (system === '' || code === '' || more.length > 0) {
    refuseValue(name, 'takes system|code: the hierarchy of a code is that of its system');
  }
  const codes = await (modifier === 'below' ? source.descendants(system, code) : source.ancestors(system, code));
  return codes.map((found) => ({ system, code: found }));
}

/** What was found, or why nothing was: thrown later, if the parameter turns out to ask for it. */
export async function catchProblem(
  found: Promise<readonly CodeOfSystem[]>,
): Promise<readonly CodeOfSystem[] | PraxisError> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof PraxisError) return error;
    throw error;
  }
}
