/** The service that the cases of a page share: one firm, one application that may do everything. */
import assert from 'node:assert/strict';
import type { Lifetime } from '../support/database.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  type TestFirm,
  type TestService,
} from '../support/service.ts';

/** The origin that browsers may call from. */
export const browserOrigin = 'https://app.example.com';

export interface World extends Caller {
  readonly service: TestService;
  readonly firm: TestFirm;
  /** Creates a resource and returns it as stored. */
  create(resource: Readonly<Record<string, unknown>>): Promise<Answer['json']>;
  /** A word that no other case of the run has. */
  unique(): string;
}

export async function openWorld(t: Lifetime): Promise<World> {
  const service = await openTestService(t, { PRAXIS_CORS_ORIGINS: browserOrigin, PRAXIS_OUTBOUND_LOOPBACK: 'sandbox' });
  const firm = await makeFirm(service, 'maple');
  const caller = await openCaller(service, await makeApplication(service, 'Conformance', ['acl/*'], [firm]), firm);
  let count = 0;
  return {
    ...caller,
    service,
    firm,
    async create(resource) {
      const answer = await caller.send('POST', String(resource['resourceType']), resource, {
        prefer: 'return=representation',
      });
      assert.equal(answer.status, 201, answer.text);
      return answer.json;
    },
    unique() {
      count += 1;
      return `word${'abcdefghij'[count % 10]}${count}`;
    },
  };
}
