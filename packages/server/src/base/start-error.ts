/**
 * What the service stands on is not as it needs it: a file, a key, the database. The message says in one line what it is and
 * how it is mended. A command ends with status 1.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
}
