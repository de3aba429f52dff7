/**
 * What is running: shown in metadata, on the front page and in the log.
 */
export const version = '0.1.0';

/** When this version was released, a FHIR date. */
export const releaseDate = '2026-11-21';
