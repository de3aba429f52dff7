/**
 * Problems of an entry, told so that the entry is found: the first words are its place in the Bundle.
 */
import { type ErrorIssue, PraxisError } from '../base/errors.ts';
import { CostlyParameters } from '../search/index/costly-parameters.ts';

/** `Bundle.entry[3]` */
export function formatEntryPath(index: number): string {
  return `Bundle.entry[${index}]`;
}

/** The same error, its issues placed in the entry. */
export function placeInEntry(error: PraxisError, index: number): PraxisError {
  if (error instanceof CostlyParameters) return error; // told to nobody: what is under way is begun again
  const { more, ...first } = error.details;
  return new PraxisError(error.code, {
    ...first,
    ...placed(first, index),
    ...(more === undefined ? {} : { more: more.map((issue) => placed(issue, index)) }),
  });
}

function placed(issue: ErrorIssue, index: number): ErrorIssue {
  const path = formatEntryPath(index);
  const expression = (issue.expression ?? []).map((each) => elementPath(each, path));
  return {
    ...issue,
    diagnostics: `${path}: ${issue.diagnostics}`,
    expression: expression.length === 0 ? [path] : expression,
  };
}

/** `Patient.name` → `Bundle.entry[3].resource.name`; what names a parameter or header → the entry. */
function elementPath(expression: string, path: string): string {
  const [, rest] = /^[A-Z][A-Za-z]+((?:\.[a-z].*)?)$/.exec(expression) ?? [];
  return rest === undefined || rest === '' ? path : `${path}.resource${rest}`;
}

/** Runs `work` for an entry; what it refuses is told with the entry's place. */
export async function runForEntry<T>(index: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof PraxisError ? placeInEntry(error, index) : error;
  }
}
