/**
 * The three curl lines that a newcomer sees first. Each works on its own, as printed, as long as the service runs.
 */
import type { SandboxFile } from './credentials.ts';

export interface FirstCallOrigins {
  readonly ofEnvironment: string;
  readonly ofRealm: string;
}

/**
 * A token; a search with a token; a create with a token: in the environment `sandbox`, never in the others of the file. Empty when the
 * sandbox has no application.
 */
export function buildFirstCalls(sandbox: SandboxFile, origins: FirstCallOrigins): string[] {
  const application = sandbox.applications.find(({ acl }) => acl.includes('acl/*'));
  const firm = application?.firms[0];
  if (application === undefined || firm === undefined) return [];
  const { apiKey, clientId, clientSecret } = application.client;
  const tokenUrl = `${origins.ofRealm}/auth/realms/${sandbox.realm}/protocol/openid-connect/token`;
  const token = `curl -s ${tokenUrl} -H 'x-api-key: ${apiKey}' -d grant_type=client_credentials -d client_id=${clientId} -d client_secret=${clientSecret}`;
  const bearer = `-H "Authorization: Bearer $(${token} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')"`;
  const patients = `${origins.ofEnvironment}/${sandbox.environment}/firm/${firm}/${sandbox.product}/fhir/v2/Patient`;
  const key = `-H 'x-api-key: ${apiKey}'`;
  const body = `'{"resourceType":"Patient","name":[{"family":"Example","given":["Ada"]}],"birthDate":"1990-12-10"}'`;
  return [
    token,
    `curl -s '${patients}?family=s&_count=2&_sort=birthdate' ${key} ${bearer}`,
    `curl -s ${patients} ${key} -H 'Content-Type: application/fhir+json' -d ${body} ${bearer}`,
  ];
}
