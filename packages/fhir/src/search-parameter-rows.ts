// The form in which search parameters are kept as data: R4's in the generated table, ours in
// practice-search-parameters.ts.
// https://hl7.org/fhir/R4/searchparameter.html

export interface SearchParameterRow {
  readonly code: string;
  /** A SearchParameterKind; checked when the row is read. */
  readonly type: string;
  readonly base: readonly string[];
  /** Absent for parameters that no expression can describe: _text, _content, _query, _filter. */
  readonly expression?: string;
  /** Resource types that a reference may point to; '*' for every type that has an endpoint. */
  readonly target?: '*' | readonly string[];
  readonly component?: readonly { readonly definition: string; readonly expression: string }[];
  /** One text, or one per base type. */
  readonly description: string | Readonly<Record<string, string>>;
}
