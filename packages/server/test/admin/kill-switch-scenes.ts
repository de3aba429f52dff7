/**
 * What the kill switch is tried with: everything that can be revoked through the administration API, and scenes to revoke it
 * in.
 */
import assert from 'node:assert/strict';
import type { Database } from '../../src/database/database.ts';
import { listClientSecrets } from '../../src/oauth/client-auth/client-secrets.ts';
import { patient } from '../support/records.ts';
import {
  callerOf,
  clientToken,
  legacyToken,
  makeApplication,
  makeFirm,
  type TestApplication,
  type TestFirm,
  type TestService,
} from '../support/service.ts';

/** The patient of each scene. */
export const patientId = 'one';

export type Flow = 'client' | 'legacy';

/** A firm, and an application that reads there by both flows. */
export interface Scene {
  readonly firm: TestFirm;
  readonly vendor: TestApplication;
  readonly headers: Readonly<Record<Flow, Readonly<Record<string, string>>>>;
}

/** What is revoked. */
export interface Kind {
  readonly name: string;
  readonly flows: readonly Flow[];
  /** What is asked of the administration API. */
  readonly path: (scene: Scene, database: Database) => Promise<string> | string;
  readonly body?: object;
  readonly status: 401 | 403;
  /** What token requests of the flow are answered with afterwards; absent: they are not what was revoked. */
  readonly token?: { readonly flow: Flow; readonly status: number; readonly error: string };
}

export const clientRefused = { flow: 'client', status: 401, error: 'invalid_client' } as const;

const applicationPath = ({ vendor }: Scene): string =>
  `/environments/sandbox/applications/${encodeURIComponent(vendor.application.name)}`;
const firmPath = ({ firm }: Scene): string => `/environments/sandbox/firms/${firm.prefix}`;
const authorisationPath = (scene: Scene): string =>
  `${firmPath(scene)}/authorisations/${encodeURIComponent(scene.vendor.application.name)}`;

export const kinds: readonly Kind[] = [
  {
    name: 'secret',
    flows: ['client'],
    async path(scene, database) {
      const { application, clientId } = scene.vendor;
      const [secret] = await listClientSecrets(database, application, clientId);
      return `${applicationPath(scene)}/clients/${clientId}/secrets/${secret?.id}/retire`;
    },
    body: { revoke: true },
    status: 401,
    token: clientRefused,
  },
  {
    name: 'client',
    flows: ['client'],
    path: (scene) => `${applicationPath(scene)}/clients/${scene.vendor.clientId}/revoke`,
    status: 401,
    token: clientRefused,
  },
  {
    name: 'client key',
    flows: ['client'],
    path: (scene) => `${applicationPath(scene)}/keys/${scene.vendor.clientKeyId}/revoke`,
    status: 401,
    token: clientRefused,
  },
  {
    name: 'legacy key',
    flows: ['legacy'],
    path: (scene) => `${applicationPath(scene)}/keys/${scene.vendor.legacyKeyId}/revoke`,
    status: 401,
    token: { flow: 'legacy', status: 401, error: 'invalid_client' },
  },
  {
    name: 'account',
    flows: ['legacy'],
    path: (scene) => `${firmPath(scene)}/accounts/${scene.vendor.accounts.get(scene.firm.prefix)?.username}/revoke`,
    status: 401,
    token: { flow: 'legacy', status: 400, error: 'invalid_grant' },
  },
  {
    name: 'authorisation',
    flows: ['client', 'legacy'],
    path: (scene) => `${authorisationPath(scene)}/revoke`,
    status: 403,
  },
  {
    name: 'authorisation, suspended',
    flows: ['client', 'legacy'],
    path: (scene) => `${authorisationPath(scene)}/suspend`,
    status: 403,
  },
  {
    name: 'application',
    flows: ['client', 'legacy'],
    path: (scene) => `${applicationPath(scene)}/suspend`,
    status: 401,
  },
  { name: 'firm', flows: ['client', 'legacy'], path: (scene) => `${firmPath(scene)}/suspend`, status: 403 },
];

/** @param first where tokens are asked for */
export async function openScene(first: TestService, round: number): Promise<Scene> {
  const firm = await makeFirm(first, `firm-${round}`);
  const vendor = await makeApplication(first, `Vendor ${round}`, ['acl/*'], [firm]);
  const client = callerOf(firm, await clientToken(first, vendor), vendor.clientKey);
  const legacy = callerOf(firm, await legacyToken(vendor, firm), vendor.legacyKey);
  const made = await client.send('PUT', `Patient/${patientId}`, { ...patient('Stone'), id: patientId });
  assert.equal(made.status, 201, made.text);
  return { firm, vendor, headers: { client: client.headers, legacy: legacy.headers } };
}
