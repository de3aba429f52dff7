/** The end of a server that listens itself. */

/** Connections that are still open after `drainMs` are cut, so that a silent client does not keep the process alive. */
export async function drainServer(
  server: { readonly server: { closeAllConnections(): void }; close(): Promise<void> },
  drainMs: number,
): Promise<void> {
  const limit = setTimeout(() => server.server.closeAllConnections(), drainMs);
  await server.close();
  clearTimeout(limit);
}
