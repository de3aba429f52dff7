// The error of an expression that cannot be compiled.

/** An expression that is malformed, goes beyond our subset of FHIRPath or names an element that does not exist. */
export class FhirPathError extends Error {
  readonly expression: string;

  constructor(message: string, expression: string) {
    super(`${message} in the FHIRPath expression: ${expression}`);
    this.name = 'FhirPathError';
    this.expression = expression;
  }
}
