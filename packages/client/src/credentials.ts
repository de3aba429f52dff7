/** Both token flows: what an application holds, and what it asks a token endpoint for. */

/** Recommended: one client id for all practices that authorised the application, and tokens of 15 minutes. */
export type ClientCredentials = {
  readonly flow: 'client-credentials';
  /** The API key of this flow. */
  readonly apiKey: string;
  readonly clientId: string;
  /** Access entries that the token is for; all of the application if absent. */
  readonly scope?: readonly string[];
  /** Found by discovery if absent. */
  readonly tokenUrl?: string;
} & (
  | { readonly clientSecret: string; readonly signAssertion?: never }
  | {
      readonly clientSecret?: never;
      /** Makes the JWT that proves the client's own key (RFC 7523), new for each request. */
      readonly signAssertion: (tokenUrl: string) => Promise<string>;
    }
);

/** For existing applications: one account for each practice, and tokens of an hour. */
export interface PasswordCredentials {
  readonly flow: 'password';
  /** The API key of this flow. */
  readonly apiKey: string;
  readonly username: string;
  readonly password: string;
  /** That of the practice if absent. */
  readonly tokenUrl?: string;
}

/** A token flow with its secrets. */
export type Credentials = ClientCredentials | PasswordCredentials;

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** The endpoint of the password grant of a practice: beside its FHIR base (contract 4.1). */
export function findLegacyTokenUrl(base: string): string {
  return `${base.replace(/\/fhir\/v\d+$/, '')}/ws/oauth2/grant`;
}

/**
 * The fields of a token request.
 * @param refreshToken of the token before, where there is one that has not been refused
 */
export async function buildTokenForm(
  credentials: Credentials,
  tokenUrl: string,
  refreshToken: string | undefined,
): Promise<URLSearchParams> {
  return new URLSearchParams(
    credentials.flow === 'password'
      ? buildPasswordForm(credentials, refreshToken)
      : await buildClientForm(credentials, tokenUrl),
  );
}

function buildPasswordForm(
  { username, password }: PasswordCredentials,
  refreshToken: string | undefined,
): Record<string, string> {
  return refreshToken === undefined
    ? { grant_type: 'password', username, password }
    : { grant_type: 'refresh_token', refresh_token: refreshToken };
}

async function buildClientForm(credentials: ClientCredentials, tokenUrl: string): Promise<Record<string, string>> {
  const { clientId, clientSecret, signAssertion, scope } = credentials;
  const proof: Record<string, string> =
    signAssertion === undefined
      ? { client_secret: clientSecret }
      : { client_assertion_type: assertionType, client_assertion: await signAssertion(tokenUrl) };
  return {
    grant_type: 'client_credentials',
    client_id: clientId,
    ...proof,
    ...(scope === undefined ? {} : { scope: scope.join(' ') }),
  };
}
