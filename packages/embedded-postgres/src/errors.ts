/** The machine, the user or another process stands against it. The message says what to do. */
export class EnvironmentError extends Error {
  override readonly name: string = 'EnvironmentError';
}

/** The server or its files are not as they have to be. The message says what to do. */
export class ServerError extends Error {
  override readonly name: string = 'ServerError';
}
