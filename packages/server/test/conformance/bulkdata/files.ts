/** https://hl7.org/fhir/uv/bulkdata/export.html#bulk-data-delete-request and what follows it: status, manifest, files. */
import assert from 'node:assert/strict';
import { patient } from '../../support/records.ts';
import { type Clause, forClients, shall, shallNot, should } from '../clause.ts';
import { exportOf, linesOf, noOrganized, noPartial, resourcesOf } from './exporting.ts';

export const fileClauses: readonly Clause[] = [
  shall(
    'bulkdata-delete-1',
    'bulk-data-delete-request',
    'After DELETE the polling location answers 404 with an OperationOutcome in JSON',
    async (world) => {
      const { status } = await exportOf(world, '$export?_type=Patient');
      assert.equal((await world.send('DELETE', status)).status, 202);
      for (const gone of [await world.get(status), await world.send('DELETE', status)]) {
        assert.equal(gone.status, 404);
        assert.equal(gone.json.resourceType, 'OperationOutcome');
      }
    },
  ),
  should(
    'bulkdata-status-1',
    'bulk-data-status-request',
    'While it is in progress the answer has Retry-After; when it is complete, Expires',
    async (world) => {
      const { answer } = await exportOf(world, '$export?_type=Patient');
      assert.ok(Date.parse(answer.headers.get('expires') ?? '') > 0);
    },
  ),
  shall(
    'bulkdata-status-2',
    'response---error-status',
    'Where a part of the resources cannot be exported, error has files of OperationOutcomes, and the status is 200',
    { notApplicable: 'an export has everything or fails: there is no partial success' },
  ),
  shall(
    'bulkdata-partial-1',
    'response---in-progress-status',
    'A partial manifest lists files that are there',
    noPartial,
  ),
  shallNot(
    'bulkdata-partial-2',
    'response---in-progress-status',
    'A manifest that was returned is not altered',
    noPartial,
  ),
  shallNot('bulkdata-partial-3', 'response---in-progress-status', 'Files of a manifest are not altered', noPartial),
  shall('bulkdata-manifest-1', 'response---output-manifest', 'The files are there at their URLs', async (world) => {
    await world.create(patient(world.unique()));
    const { manifest } = await exportOf(world, '$export?_type=Patient');
    for (const { url } of manifest.output) assert.equal((await world.get(url)).status, 200);
  }),
  shall(
    'bulkdata-manifest-2',
    'response---output-manifest',
    'All that was modified up to transactionTime is included',
    async (world) => {
      const { manifest } = await exportOf(world, '$export?_type=Patient');
      assert.ok(Date.parse(manifest.transactionTime) <= world.service.clock.now());
      const { id } = await world.create(patient(world.unique()));
      assert.ok((await resourcesOf(world, '$export?_type=Patient')).some((each) => each.id === id));
    },
  ),
  shall(
    'bulkdata-manifest-3',
    'response---output-manifest',
    'requiresAccessToken is true where files take the same tokens as the API',
    async (world) => assert.equal((await exportOf(world, '$export')).manifest.requiresAccessToken, true),
  ),
  shall('bulkdata-manifest-4', 'response---output-manifest', 'Each file has a url and a type', async (world) => {
    await world.create(patient(world.unique()));
    const { manifest } = await exportOf(world, '$export');
    for (const { type, url } of manifest.output) assert.ok(typeof type === 'string' && URL.canParse(url));
  }),
  shallNot(
    'bulkdata-manifest-5',
    'response---output-manifest',
    'With organizeOutputBy files have no type',
    noOrganized,
  ),
  shall(
    'bulkdata-manifest-6',
    'response---output-manifest',
    'With organizeOutputBy continuesInFile tells what goes on',
    noOrganized,
  ),
  shallNot(
    'bulkdata-deleted-1',
    'response---output-manifest',
    'What is in deleted is not in output, too',
    async (world) => {
      const since = new Date(world.service.clock.now()).toISOString();
      const { id } = await world.create(patient(world.unique()));
      await world.send('DELETE', `Patient/${id}`);
      const { manifest } = await exportOf(world, `$export?_type=Patient&_since=${since}`);
      const exported: { readonly id: string }[] = [];
      for (const { url } of manifest.output) exported.push(...(await linesOf(world, url)));
      assert.ok(!exported.some((each) => each.id === id));
    },
  ),
  shall(
    'bulkdata-deleted-2',
    'response---output-manifest',
    'Each line of a file in deleted is a transaction Bundle whose entries are DELETE requests with a url',
    async (world) => {
      const since = new Date(world.service.clock.now()).toISOString();
      const { id } = await world.create(patient(world.unique()));
      await world.send('DELETE', `Patient/${id}`);
      const { manifest } = await exportOf(world, `$export?_type=Patient&_since=${since}`);
      const urls: string[] = [];
      for (const file of manifest.deleted) {
        for (const bundle of await linesOf(world, file.url)) {
          assert.deepEqual([bundle.resourceType, bundle.type], ['Bundle', 'transaction']);
          for (const { request } of bundle.entry) {
            assert.equal(request.method, 'DELETE');
            urls.push(request.url);
          }
        }
      }
      assert.ok(urls.includes(`Patient/${id}`));
    },
  ),
  shall(
    'bulkdata-manifest-7',
    'response---output-manifest',
    'Files in error are of OperationOutcomes, in the format of the other files',
    async (world) => {
      const answer = await world.get('$export?_until=2026-01-01', { prefer: 'respond-async, handling=lenient' });
      const { error } = (await world.get(answer.headers.get('content-location') ?? '')).json;
      const [outcome] = await linesOf(world, error[0].url);
      assert.deepEqual([error[0].type, outcome.resourceType], ['OperationOutcome', 'OperationOutcome']);
    },
  ),
  shall('bulkdata-manifest-8', 'response---output-manifest', 'Linked manifests have the same values', noPartial),
  shall('bulkdata-manifest-9', 'response---output-manifest', 'The value of an extension is an object', {
    notApplicable: 'the manifest has no extensions',
  }),
  shall('bulkdata-file-1', 'bulk-data-output-file-request', 'Where a token is needed, requests have one', forClients),
  shall('bulkdata-file-2', 'bulk-data-output-file-request', 'Without requiresAccessToken URLs are capability URLs', {
    notApplicable: 'requiresAccessToken is always true',
  }),
  shallNot('bulkdata-file-3', 'bulk-data-output-file-request', 'Clients send no token to such URLs', forClients),
  shall(
    'bulkdata-file-4',
    'bulk-data-output-file-request',
    'Only the most recent version of a resource is exported',
    async (world) => {
      const created = await world.create(patient(world.unique()));
      await world.send('PUT', `Patient/${created.id}`, { ...created, gender: 'other' });
      const exported = (await resourcesOf(world, '$export?_type=Patient')).filter(({ id }) => id === created.id);
      assert.deepEqual(
        exported.map(({ meta }) => meta.versionId),
        ['2'],
      );
    },
  ),
  shall(
    'bulkdata-file-5',
    'bulk-data-output-file-request',
    'Files come as they are or with a coding of Accept-Encoding, which Content-Encoding names',
    async (world) => {
      for (let count = 0; count < 20; count += 1) await world.create(patient(world.unique()));
      const { manifest } = await exportOf(world, '$export?_type=Patient');
      const codingOf = async (coding: string) =>
        (await world.get(manifest.output[0].url, { 'accept-encoding': coding })).headers.get('content-encoding');
      assert.deepEqual([await codingOf('gzip'), await codingOf('identity')], ['gzip', null]);
    },
  ),
  shall('bulkdata-file-6', 'bulk-data-output-file-request', 'Clients take files with gzip and without', forClients),
  shall(
    'bulkdata-file-7',
    'bulk-data-output-file-request',
    'Files of NDJSON are application/fhir+ndjson',
    async (world) => {
      await world.create(patient(world.unique()));
      const { manifest } = await exportOf(world, '$export?_type=Patient');
      for (const accept of ['application/fhir+ndjson', '*/*', 'application/json']) {
        const { headers } = await world.get(manifest.output[0].url, { accept });
        assert.match(headers.get('content-type') ?? '', /^application\/fhir\+ndjson(?:;|$)/);
      }
    },
  ),
  shall(
    'bulkdata-organization-1',
    'bulk-data-output-file-organization',
    'A file has resources of one type only',
    async (world) => {
      await world.create(patient(world.unique()));
      const { manifest } = await exportOf(world, '$export');
      for (const { type, url } of manifest.output)
        for (const resource of await linesOf(world, url)) assert.equal(resource.resourceType, type);
    },
  ),
  shall(
    'bulkdata-organization-2',
    'bulk-data-output-file-organization',
    'With organizeOutputBy files have blocks',
    noOrganized,
  ),
  shall(
    'bulkdata-organization-3',
    'bulk-data-output-file-organization',
    'A block that goes on repeats its header',
    noOrganized,
  ),
  shall(
    'bulkdata-attachments-1',
    'attachments',
    'An Attachment without data has an absolute url that leads to the content',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      const offered = await world.send('POST', 'Binary', { resourceType: 'Binary', contentType: 'text/plain' });
      const urlOf = (name: string) =>
        offered.json.parameter.find((each: { name: string }) => each.name === name).valueUrl;
      assert.equal((await fetch(urlOf('url'), { method: 'PUT', body: 'well' })).status, 200);
      const document = await world.create({
        resourceType: 'DocumentReference',
        status: 'current',
        subject: { reference: `Patient/${id}` },
        content: [{ attachment: { contentType: 'text/plain', url: urlOf('attachment') } }],
      });
      const exported = await resourcesOf(world, '$export?_type=DocumentReference');
      const { attachment } = exported.find((each) => each.id === document.id).content[0];
      assert.equal(attachment.contentType, 'text/plain');
      assert.equal(await (await fetch(attachment.url, { headers: world.headers })).text(), 'well');
    },
  ),
  shallNot(
    'bulkdata-attachments-2',
    'attachments',
    'The url of an Attachment takes no credentials beside those of the export',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      const securityContext = { reference: `Patient/${id}` };
      const binary = { resourceType: 'Binary', contentType: 'text/plain', data: 'aGk=', securityContext };
      await world.create(binary);
      const exported = await resourcesOf(world, '$export?_type=DocumentReference');
      const document = exported.find(({ subject }) => subject?.reference === securityContext.reference);
      const answer = await fetch(document.content[0].attachment.url, { headers: world.headers });
      assert.equal(await answer.text(), 'hi');
    },
  ),
  shall(
    'bulkdata-capability-1',
    'server-capability-documentation',
    'The CapabilityStatement tells the operations that there are',
    async ({ get }) => {
      const { instantiates, rest } = (await get('metadata')).json;
      assert.deepEqual(instantiates, ['http://hl7.org/fhir/uv/bulkdata/CapabilityStatement/bulk-data']);
      const definitionOf = (operation: readonly { name: string; definition: string }[]) =>
        operation.find(({ name }) => name === 'export')?.definition;
      const ofType = (type: string) => rest[0].resource.find((each: { type: string }) => each.type === type).operation;
      assert.deepEqual(
        [rest[0].operation, ofType('Patient'), ofType('Group')].map(definitionOf),
        ['export', 'patient-export', 'group-export'].map(
          (name) => `http://hl7.org/fhir/uv/bulkdata/OperationDefinition/${name}`,
        ),
      );
    },
  ),
];
