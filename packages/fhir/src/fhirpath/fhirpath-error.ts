// The error of an expression that cannot be compiled.
import { suggestName } from '../suggestion.ts';

/** A name that the definitions lack, and those that they have in its place. */
export interface UnknownName {
  readonly name: string;
  readonly known: Iterable<string>;
}

/** An expression that is malformed, goes beyond our subset of FHIRPath or names an element that does not exist. */
export class FhirPathError extends Error {
  readonly expression: string;
  readonly #unknown: UnknownName | undefined;

  constructor(message: string, expression: string, unknown?: UnknownName) {
    super(`${message} in the FHIRPath expression: ${expression}`);
    this.name = 'FhirPathError';
    this.expression = expression;
    this.#unknown = unknown;
  }

  /** `: did you mean name?`, to follow the message; empty when no name is near. Most errors are caught and never shown. */
  suggest(): string {
    return this.#unknown === undefined ? '' : suggestName(this.#unknown.name, this.#unknown.known);
  }
}
