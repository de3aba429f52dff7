/** A request of the hunt. */
export interface Request {
  /** For the report. */
  readonly way: string;
  readonly method: string;
  /** Below the FHIR base; `{made}` in it stands for the id that was made last. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}
