/**
 * Every table with rows of firms: what of it belongs to an export of everything, and whether it ends with the firm. A test compares
 * the list with the catalogue of the database, so that no table is forgotten (test/offboarding/firm-tables.test.ts).
 */

/** How rows are exported as JSON. */
export interface ExportedRows {
  /** In the order of the file; secrets are never among them. */
  readonly columns: readonly string[];
  /** Columns by which a row is unique in the firm, and the order of the rows. */
  readonly key: readonly string[];
}

interface FirmTable {
  readonly name: string;
  /** Rows of `configuration/{name}.ndjson`, or why there are none. */
  readonly exported: ExportedRows | string;
}

const rowsOf = (name: string, key: readonly string[], columns: readonly string[]): FirmTable => ({
  name,
  exported: { key, columns },
});
const notExported = (name: string, reason: string): FirmTable => ({ name, exported: reason });

const derived = 'follows from the resources';
const underWay = 'work that was under way';
const terms = ['acl', 'state', 'version', 'purpose', 'expires_at', 'operator_rows'] as const;

/** What ends with the firm, in an order in which no row goes before those that refer to it. */
export const erasedTables: readonly FirmTable[] = [
  // First what jobs find their work by, so that none begins any more.
  notExported('subscription_due', underWay),
  notExported('subscription_binding', underWay),
  notExported('websocket_token', underWay),
  notExported('subscription_feed', underWay),
  notExported('occupancy_change', underWay),
  notExported('waitlist_due', underWay),
  notExported('freed_time', underWay),
  notExported('firm_search_parameter', derived),
  notExported('firm_search_parameter_change', underWay),
  notExported('subscription_event', underWay),
  notExported('subscription_attempt', 'the last attempts to reach endpoints'),
  rowsOf(
    'subscription',
    ['id'],
    ['id', 'application', 'status', 'reason', 'created', 'events', 'delivered', 'suspended'],
  ),
  notExported('bulk_export_file', underWay),
  notExported('bulk_export', underWay),
  notExported('import_range', underWay),
  notExported('import_run', underWay),
  notExported('idempotency_key', 'answers that were kept for a day'),
  notExported('index_token', derived),
  notExported('index_reference', derived),
  notExported('index_date', derived),
  notExported('index_string', derived),
  notExported('index_number', derived),
  notExported('resource', 'current/ and history/ hold it'),
  notExported('resource_version', 'history/ holds it'),
  notExported('content_holder', 'documents.ndjson.gz holds it'),
  notExported('document_content', 'documents.ndjson.gz and documents/ hold it'),
  notExported('content_discard', 'objects that no document names'),
  notExported('bookable_actor', derived),
  notExported('occupancy', derived),
  notExported('slot_hold', 'kept for minutes'),
  rowsOf('calendar', ['number'], ['number', 'version', 'active', 'practitioner', 'location', 'content']),
  rowsOf(
    'calendar_version',
    ['number', 'version'],
    ['number', 'version', 'changed_at', 'active', 'changed_by', 'content'],
  ),
  rowsOf('holiday_list', ['location'], ['location', 'version', 'content']),
  rowsOf(
    'holiday_list_version',
    ['location', 'version'],
    ['location', 'version', 'changed_at', 'changed_by', 'content'],
  ),
  rowsOf('inbound_charge', ['charge'], ['charge', 'transaction', 'application', 'received']),
  rowsOf('intake_rule', ['rtype', 'application'], ['rtype', 'application']),
  rowsOf(
    'intake_proposal',
    ['task'],
    ['task', 'rtype', 'target', 'base', 'application', 'proposed_at', 'proposed', 'decided', 'closed'],
  ),
  rowsOf('waitlist_offer', ['appointment', 'slot'], ['appointment', 'slot', 'expires', 'ended', 'added']),
  rowsOf('waitlist_entry', ['appointment'], ['appointment', 'priority', 'since']),
  notExported('write_lock', underWay),
  notExported('job_failure', underWay),
  notExported('legacy_sunset', 'a plan of the service'),
  notExported('legacy_brown_out', 'a plan of the service'),
  notExported('legacy_use', 'counts of the service'),
  rowsOf('legacy_account', ['username'], ['username', 'application', 'subject', 'state', 'created_at']),
  rowsOf('administrator', ['username'], ['username', 'role', 'state', 'created_at']),
  rowsOf('authorisation_version', ['application', 'version'], ['application', ...terms, 'changed_by', 'changed_at']),
  rowsOf('authorisation', ['application'], ['application', ...terms, 'created_at']),
  notExported('access_epoch', 'a counter of the service'),
  // The ledger goes last: until then it tells what happened to all else.
  notExported('audit_patient', 'the ledger holds it'),
  notExported('audit_patient_key', 'the ledger holds it'),
  notExported('audit_event', 'the ledger holds it'),
  notExported('audit_caller', 'the ledger holds it'),
  notExported('audit_action', 'the ledger holds it'),
  notExported('audit_elements', 'the ledger holds it'),
  notExported('audit_seal', 'the ledger holds it'),
  notExported('audit_archive', 'the manifest names the archives'),
];

/** Columns that hold the number of a type, and what an export calls the name of the type. */
export const typeColumn = { stored: 'rtype', exported: 'type' } as const;
