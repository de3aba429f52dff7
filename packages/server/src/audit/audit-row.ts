/**
 * The audit row of a write: who changed what at whose request. Storage writes it in the transaction of the change itself,
 * into `audit_event`; it becomes an AuditEvent (https://hl7.org/fhir/R4/auditevent.html) when it is read.
 * Firm, application, resource and version are those of the write; no content and no query values.
 */

/** Interactions that write, by their R4 codes (https://hl7.org/fhir/R4/valueset-type-restful-interaction.html). */
export type WriteInteraction = 'create' | 'update' | 'patch' | 'delete';

export interface AuditRow {
  readonly atMs: number;
  readonly interaction: WriteInteraction;
  /** Whom the token names: a client id or a legacy account's subject. */
  readonly subject: string;
  /** The token's unique id; never the token. */
  readonly tokenId: string;
  /** The id that the answer and the log carry. */
  readonly requestId: string;
}
