/** Where a firm's websocket is, beside its FHIR base. */

/** Of CapabilityStatement.rest (http://hl7.org/fhir/StructureDefinition/capabilitystatement-websocket). */
export const websocketExtension = 'http://hl7.org/fhir/StructureDefinition/capabilitystatement-websocket';

/** `wss://…/{environment}/firm/{firm}/{product}/ws/subscriptions`. @param baseUrl FHIR base of the firm */
export function buildWebsocketUrl(baseUrl: string): string {
  return `${baseUrl.replace(/^http/, 'ws').replace(/\/fhir\/v2$/, '')}/ws/subscriptions`;
}
