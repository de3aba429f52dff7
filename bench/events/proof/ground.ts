/** The practice of the proof, its applications, and the nodes that serve it on one database, which all can be killed. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { entryProblem } from '../../../packages/server/src/admin/entry-problem.ts';
import { openPlatform, type Platform } from '../../../packages/server/src/app.ts';
import { systemClock } from '../../../packages/server/src/base/clock.ts';
import { readConfig } from '../../../packages/server/src/base/config.ts';
import { makeSecret } from '../../../packages/server/src/base/ids.ts';
import { openLog } from '../../../packages/server/src/base/log.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedDatabase,
} from '../../../packages/server/src/database/embedded-postgres.ts';
import { issueApiKey } from '../../../packages/server/src/oauth/client-auth/api-keys.ts';
import { issueClient } from '../../../packages/server/src/oauth/client-auth/clients.ts';
import { createApplication } from '../../../packages/server/src/tenancy/applications.ts';
import { authorise } from '../../../packages/server/src/tenancy/authorisations.ts';
import { createFirm, type Firm } from '../../../packages/server/src/tenancy/firms.ts';
import type { Certificate } from '../../../packages/server/test/outbound/certificates.ts';
import { type Node, startNode } from '../../../packages/server/test/support/nodes.ts';
import type { Yard } from '../../service/processes.ts';
import { freePort } from '../../siege/installation.ts';
import { type ProofApplication, proofFirm } from './client.ts';
import type { Rights } from './rights.ts';

export interface Ground {
  readonly platform: Platform;
  readonly database: EmbeddedPostgres;
  readonly dataDir: string;
  readonly firm: Firm;
  readonly nodes: readonly ProofNode[];
  /** Makes an application that the practice has authorised. */
  makeApplication(name: string, acl: readonly string[], rights: Rights): Promise<ProofApplication>;
}

/** A node that is started again at the same port. */
export interface ProofNode {
  readonly origin: string;
  /** Whether it was ready and has not been killed since. */
  isUp(): boolean;
  /** Kills it with its workers, and starts it again; resolves when it is ready. */
  killAndStart(pauseMs: number): Promise<void>;
}

export interface GroundOptions {
  readonly nodes: number;
  /** Between a failed attempt to deliver and the next one, at first. */
  readonly pauseMs: number;
  readonly authority: Certificate;
}

/** Makes all of it; it ends with the yard. */
export async function openProofGround(yard: Yard, options: GroundOptions): Promise<Ground> {
  const dataDir = yard.directory();
  const database = await startEmbeddedDatabase({ dataDir, log: openLog('silent') });
  yard.onEnd(() => database.stop());
  const secretKey = makeSecret();
  const config = readConfig({ PRAXIS_DATA_DIR: path.join(dataDir, 'bench'), PRAXIS_SECRET_KEY: secretKey });
  const connections = { owner: database.owner, runtime: database.runtime, stop: async () => undefined };
  const platform = await openPlatform({ config, clock: systemClock, log: openLog('silent'), connections });
  yard.onEnd(() => platform.close());
  const firm = await createFirm(platform.database, {
    environment: 'sandbox',
    prefix: proofFirm,
    name: 'Proof',
    timeZone: 'America/New_York',
  });
  const authorityFile = path.join(yard.directory(), 'authority.pem');
  writeFileSync(authorityFile, options.authority.cert);
  const settings = {
    PRAXIS_OUTBOUND_LOOPBACK: 'sandbox',
    PRAXIS_DELIVERY_PAUSE_MS: String(options.pauseMs),
    PRAXIS_DATA_DIR: path.join(dataDir, 'node'),
    NODE_EXTRA_CA_CERTS: authorityFile,
  };
  const ports = await Promise.all(Array.from({ length: options.nodes }, () => freePort()));
  const nodes = await Promise.all(
    ports.map((port) =>
      openNode(yard, () => startNode({ connections }, secretKey, { ...settings, PRAXIS_PORT: String(port) })),
    ),
  );
  return {
    platform,
    database,
    dataDir,
    firm,
    nodes,
    makeApplication: async (name, acl, rights) => await makeApplication(platform, firm, name, acl, rights),
  };
}

async function openNode(yard: Yard, start: () => Promise<Node>): Promise<ProofNode> {
  let node = await start();
  let isUp = true;
  yard.onEnd(async () => {
    if (isUp) await node.stop();
  });
  const { origin } = node;
  return {
    origin,
    isUp: () => isUp,
    async killAndStart(pauseMs) {
      isUp = false;
      await node.kill();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      for (let attempt = 1; ; attempt += 1) {
        try {
          node = await start();
          isUp = true;
          return;
        } catch (error) {
          // The database may be starting, too.
          if (attempt === 30) throw error;
          await new Promise((resolve) => setTimeout(resolve, 300));
        }
      }
    },
  };
}

async function makeApplication(
  { database, secrets, clock }: Platform,
  firm: Firm,
  name: string,
  acl: readonly string[],
  rights: Rights,
): Promise<ProofApplication> {
  const application = await createApplication(database, { environment: 'sandbox', name, acl }, entryProblem);
  await authorise(database, clock, firm, application, termsOf(rights), entryProblem);
  const { apiKey } = await issueApiKey(database, secrets, application, 'client', 'proof');
  return { application, apiKey, ...(await issueClient(database, secrets, application)) };
}

/** How the practice authorises these rights. */
export function termsOf({ name, acl, operatorRows }: Rights) {
  return { purpose: `Proof: ${name}`, acl, operatorRows };
}
