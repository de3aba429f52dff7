-- Files of a bulk export that tell of Binaries as DocumentReferences (docs/decisions/0314).
ALTER TABLE bulk_export_file ADD COLUMN as_documents boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN bulk_export_file.as_documents IS 'The resources are Binaries, each of which the file tells of as a DocumentReference: https://hl7.org/fhir/uv/bulkdata/export.html';
