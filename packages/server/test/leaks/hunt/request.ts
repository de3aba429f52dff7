/** A request of the hunt. */
export interface Request {
  /** For the report. */
  readonly way: string;
  readonly method: string;
  /** Below the FHIR base, or a URL; `{name}` in it and in the body stands for what each world has made for itself. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}
