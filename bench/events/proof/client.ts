/** An application that calls the nodes of the proof, whichever of them answers. */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Application } from '../../../packages/server/src/tenancy/applications.ts';
import { type Answer, exchange } from '../../siege/caller.ts';

/** An application with its credentials. */
export interface ProofApplication {
  readonly application: Application;
  readonly apiKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface ProofClient {
  /** Sends a request once, to one node after the other; `status` 0: no answer came. A new token is taken where it is needed. */
  send(method: string, path: string, body?: object): Promise<Answer>;
  close(): void;
}

export const proofFirm = 'proof';
const pauseMs = 50;
const form = 'application/x-www-form-urlencoded';

/** @param origins asked at each request, since nodes come and go */
export function openProofClient(
  origins: () => readonly string[],
  { apiKey, clientId, clientSecret }: ProofApplication,
  connectionsMax = 4,
): ProofClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });
  let turn = 0;
  let token: Promise<string | undefined> | undefined;
  const nextOrigin = (): string => {
    const all = origins();
    turn += 1;
    return all[turn % all.length] ?? '';
  };
  const takeToken = async (): Promise<string | undefined> => {
    const fields = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const url = `${nextOrigin()}/auth/realms/sandbox/protocol/openid-connect/token`;
    const headers = { 'x-api-key': apiKey, 'content-type': form };
    const { status, body } = await exchange(agent, url, 'POST', headers, new URLSearchParams(fields).toString());
    return status === 200 ? JSON.parse(body).access_token : undefined;
  };
  return {
    async send(method, path, body) {
      token ??= takeToken();
      const asked = token;
      const held = await asked;
      if (held === undefined) {
        if (token === asked) token = undefined;
        await delay(pauseMs);
        return { status: 0, body: '', ms: 0, headers: {} };
      }
      const url = path.startsWith('http') ? path : `${nextOrigin()}/sandbox/firm/${proofFirm}/pm/fhir/v2/${path}`;
      const headers = {
        authorization: `Bearer ${held}`,
        'x-api-key': apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/fhir+json' }),
      };
      const answer = await exchange(agent, url, method, headers, body === undefined ? undefined : JSON.stringify(body));
      if (answer.status === 401 && token === asked) token = undefined;
      if (answer.status === 0) await delay(pauseMs);
      return answer;
    },
    close: () => agent.destroy(),
  };
}
