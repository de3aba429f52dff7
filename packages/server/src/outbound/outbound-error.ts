/**
 * Why a host was not asked, or what was wrong with how it answered, in words that follow the name of what names the host
 * (`jwks_uri`, `endpoint`). The words tell nothing that the host said.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
}

/** @throws OutboundError */
export function refuseTarget(reason: string, options?: ErrorOptions): never {
  throw new OutboundError(reason, options);
}
