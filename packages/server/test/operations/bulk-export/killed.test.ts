/**
 * A bulk export goes on when a node is killed while it plans and while it sends files: another has the same files, byte for byte.
 * Both nodes are processes of their own.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { startNode } from '../../support/nodes.ts';
import {
  type Caller,
  callerOf,
  clientForm,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  postForm,
} from '../../support/service.ts';
import { finish, observation, put, respondAsync } from './exporting.ts';

const secretKey = Buffer.alloc(32, 9).toString('base64url');
const service = await openTestService({ after }, { PRAXIS_SECRET_KEY: secretKey });
const firm = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Exporter', ['acl/*'], [firm]);
const killed = await startNode(service.database, secretKey);
const other = await startNode(service.database, secretKey);
after(() => other.stop());

async function callerAt(origin: string): Promise<Caller> {
  const tokenUrl = `${origin}/auth/realms/sandbox/protocol/openid-connect/token`;
  const { json } = await postForm(tokenUrl, clientForm(application), application.clientKey);
  return callerOf({ base: `${origin}/sandbox/firm/maple/pm/fhir/v2` }, json.access_token, application.clientKey);
}

test('files are the same after a node was killed while it planned and sent them', async () => {
  await put(await openCaller(service, application, firm), 'Observation', 'first', observation('exam', 'x'));
  // Made here: to write them would take minutes.
  await service.database.owner.query(sql`
    INSERT INTO resource_version (lu, xid, seq, firm, vid, epoch, application, rtype, method, id, content)
    SELECT lu, pg_current_xact_id(), nextval('resource_order'), firm, 1, epoch, application, rtype, method,
      'made-' || n, replace(content, '"first"', '"made-' || n || '"')
    FROM resource_version, generate_series(1, 12000) n WHERE firm = ${firm.id} AND id = 'first'`);
  const [here, there] = [await callerAt(killed.origin), await callerAt(other.origin)];
  const at = (url: string): string => url.slice(url.indexOf('/fhir/v2/') + '/fhir/v2/'.length);
  const begun = await here.get('$export?_type=Observation&_typeFilter=Observation%3Fstatus%3Dfinal', respondAsync);
  const status = at(begun.headers.get('content-location') ?? '');
  const planning = here.get(status).catch(() => undefined);
  await there.get(status); // some of it is planned by both
  const reading = Array.from({ length: 4 }, (_, file) =>
    here.get(`${status.replace('status', 'file')}&file=${file + 1}`).catch(() => undefined),
  );
  await killed.kill();
  await Promise.all([planning, ...reading]);

  const manifest = await finish(there, status);
  assert.equal(
    manifest.output.reduce((sum, { count }) => sum + count, 0),
    12_001,
  );
  const calm = await finish(
    there,
    at((await there.get('$export?_type=Observation', respondAsync)).headers.get('content-location') ?? ''),
  );
  assert.deepEqual(
    manifest.output.map(({ count }) => count),
    calm.output.map(({ count }) => count),
  );
  for (const [place, { url }] of manifest.output.entries())
    assert.equal((await there.get(at(url))).text, (await there.get(at(calm.output[place]?.url ?? ''))).text, url);
});
