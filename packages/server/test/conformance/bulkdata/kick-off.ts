/** https://hl7.org/fhir/uv/bulkdata/export.html#bulk-data-kick-off-request and what comes before it. */
import assert from 'node:assert/strict';
import { patient } from '../../support/records.ts';
import { type Clause, shall, shallNot } from '../clause.ts';
import { exportOf, linesOf, noOrganized, noSeparate, resourcesOf, respondAsync } from './exporting.ts';

export const kickOffClauses: readonly Clause[] = [
  shall('bulkdata-security-1', 'privacy-and-security-considerations', 'All exchanges are over TLS 1.2 or later', {
    notApplicable: 'binds the deployment: TLS ends in front of the service (docs/operate/security.md)',
  }),
  shall(
    'bulkdata-security-2',
    'privacy-and-security-considerations',
    'Status and files are protected as the kick-off is',
    async (world) => {
      const { status, manifest } = await exportOf(world, '$export?_type=Organization,Patient');
      for (const url of [status, ...manifest.output.map((file: { url: string }) => file.url)])
        assert.equal((await fetch(url)).status, 401, url);
    },
  ),
  shall(
    'bulkdata-security-3',
    'privacy-and-security-considerations',
    'Access to groups is restricted by the rules of the business',
    async ({ get }) => {
      assert.equal((await get('Group/unknown/$export', respondAsync)).status, 404);
    },
  ),
  shall(
    'bulkdata-security-4',
    'privacy-and-security-considerations',
    'Only resources that the client is authorized for are returned',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      const exported = await resourcesOf(world, '$export?_type=Patient');
      assert.deepEqual(
        exported.find((each) => each.id === id),
        (await world.get(`Patient/${id}`)).json,
      );
    },
  ),
  shall(
    'bulkdata-kick-off-1',
    'bulk-data-kick-off-request',
    'The operation is asked by the asynchronous pattern: Prefer: respond-async, 202, Content-Location',
    async ({ get, firm }) => {
      const answer = await get('$export', respondAsync);
      assert.equal(answer.status, 202);
      assert.ok(answer.headers.get('content-location')?.startsWith(`${firm.base}/`));
      assert.equal((await get('$export')).status, 400);
    },
  ),
  shall('bulkdata-kick-off-2', 'bulk-data-kick-off-request', 'GET is supported', async ({ get, create }) => {
    const { id } = await create({ resourceType: 'Group', type: 'person', actual: true });
    for (const path of ['$export', 'Patient/$export', `Group/${id}/$export`])
      assert.equal((await get(path, respondAsync)).status, 202, path);
  }),
  shall(
    'bulkdata-kick-off-3',
    'bulk-data-kick-off-request',
    'Repeated parameters are the same as values separated by commas',
    async (world) => {
      await world.create(patient(world.unique()));
      await world.create({ resourceType: 'Organization', name: world.unique() });
      const types = async (query: string) =>
        (await exportOf(world, `$export?${query}`)).manifest.output.map(({ type }: { type: string }) => type);
      assert.deepEqual(await types('_type=Patient&_type=Organization'), await types('_type=Patient,Organization'));
    },
  ),
  shall(
    'bulkdata-kick-off-4',
    'bulk-data-kick-off-request',
    'A Binary whose content is associated with a patient is serialized as a DocumentReference with content.attachment',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      const securityContext = { reference: `Patient/${id}` };
      const binary = await world.create({
        resourceType: 'Binary',
        contentType: 'text/plain',
        data: 'aGk=',
        securityContext,
      });
      const exported = await resourcesOf(world, '$export?_type=Binary,DocumentReference');
      assert.ok(!exported.some((each) => each.id === binary.id));
      const url = `${world.firm.base}/Binary/${binary.id}`;
      const document = exported.find((each) => each.content?.[0].attachment.url === url);
      assert.deepEqual(document?.subject, securityContext);
    },
  ),
  shall(
    'bulkdata-headers-1',
    'headers',
    'With separate-export-status, and where it is supported, Preference-Applied says so',
    noSeparate,
  ),
  shall(
    'bulkdata-headers-2',
    'headers',
    'With separate-export-status, and where it is supported, the status is that of the request, beside X-Export-Status',
    noSeparate,
  ),
  shall(
    'bulkdata-output-format-1',
    'query-parameters',
    'NDJSON is supported, by application/fhir+ndjson, application/ndjson and ndjson',
    async ({ get }) => {
      for (const format of ['application/fhir%2Bndjson', 'application/ndjson', 'ndjson'])
        assert.equal((await get(`$export?_outputFormat=${format}`, respondAsync)).status, 202, format);
      assert.equal((await get('$export?_outputFormat=text/csv', respondAsync)).status, 400);
    },
  ),
  shall(
    'bulkdata-type-1',
    'query-parameters',
    'With _type only resources of these types are returned',
    async (world) => {
      await world.create(patient(world.unique()));
      await world.create({ resourceType: 'Organization', name: world.unique() });
      const types = new Set(
        (await resourcesOf(world, '$export?_type=Patient')).map(({ resourceType }) => resourceType),
      );
      assert.deepEqual([...types], ['Patient']);
    },
  ),
  shall(
    'bulkdata-type-2',
    'query-parameters',
    'Without _type all supported resources within the authorization are returned',
    async (world) => {
      const made = [
        await world.create(patient(world.unique())),
        await world.create({ resourceType: 'Organization', name: world.unique() }),
      ];
      const exported = new Set((await resourcesOf(world, '$export')).map(({ id }) => id));
      for (const { id } of made) assert.ok(exported.has(id));
    },
  ),
  shallNot(
    'bulkdata-patient-1',
    'query-parameters',
    'With patient nothing of the compartments of other patients is returned',
    async (world) => {
      const [one, other] = [await world.create(patient(world.unique())), await world.create(patient(world.unique()))];
      const observe = (id: string) => ({
        resourceType: 'Observation',
        status: 'final',
        code: { text: 'a' },
        subject: { reference: `Patient/${id}` },
      });
      const own = await world.create(observe(one.id));
      await world.create(observe(other.id));
      const begun = await world.send(
        'POST',
        'Patient/$export',
        {
          resourceType: 'Parameters',
          parameter: [{ name: 'patient', valueReference: { reference: `Patient/${one.id}` } }],
        },
        respondAsync,
      );
      const { output } = (await world.get(begun.headers.get('content-location') ?? '')).json;
      const ids: string[] = [];
      for (const { url } of output) ids.push(...(await linesOf(world, url)).map(({ id }) => id));
      assert.deepEqual(ids.toSorted(), [one.id, own.id].toSorted());
    },
  ),
  shall(
    'bulkdata-associated-1',
    'query-parameters',
    'Values of includeAssociatedData that are supported return or omit resources; of several the least restrictive applies',
    { notApplicable: 'no value is supported: 400, or ignored with handling=lenient' },
  ),
  shall(
    'bulkdata-associated-2',
    'query-parameters',
    'Without includeAssociatedData an export has Provenance: all of it at system level, at patient level that of what belongs to patients',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      const observation = await world.create({
        resourceType: 'Observation',
        status: 'final',
        code: { text: 'a' },
        subject: { reference: `Patient/${id}` },
      });
      const organization = await world.create({ resourceType: 'Organization', name: world.unique() });
      const provenanceOf = async (target: string) =>
        await world.create({
          resourceType: 'Provenance',
          target: [{ reference: target }],
          recorded: '2026-01-01T00:00:00Z',
          agent: [{ who: { display: 'x' } }],
        });
      const ofPatient = await provenanceOf(`Patient/${id}`);
      const ofObservation = await provenanceOf(`Observation/${observation.id}`);
      const ofOther = await provenanceOf(`Organization/${organization.id}`);
      const idsOf = async (path: string) => new Set((await resourcesOf(world, path)).map((each) => each.id));
      const all = await idsOf('$export');
      for (const each of [ofPatient, ofObservation, ofOther]) assert.ok(all.has(each.id));
      const ofPatients = await idsOf('Patient/$export');
      assert.deepEqual(
        [ofPatient, ofObservation, ofOther].map((each) => ofPatients.has(each.id)),
        [true, true, false],
      );
    },
  ),
  shall(
    'bulkdata-type-filter-1',
    '_typefilter-query-parameter',
    'A type that _typeFilter names has only what meets the search; of several searches any',
    async (world) => {
      const [one, other, third] = [world.unique(), world.unique(), world.unique()];
      for (const family of [one, other, third]) await world.create(patient(family));
      const filters = [one, other].map((name) => `_typeFilter=Patient%3Fname%3D${name}`).join('&');
      const exported = await resourcesOf(world, `$export?_type=Patient&${filters}`);
      assert.deepEqual(exported.map(({ name }) => name[0].family).toSorted(), [one, other].toSorted());
    },
  ),
  shallNot(
    'bulkdata-type-filter-2',
    '_typefilter-query-parameter',
    'Parameters about the result are no criteria of _typeFilter',
    async ({ get }) => {
      for (const name of ['_sort=name', '_include=Patient:organization', '_elements=id', '_count=1'])
        assert.equal(
          (await get(`$export?_typeFilter=Patient%3F${encodeURIComponent(name)}`, respondAsync)).status,
          400,
        );
    },
  ),
  shall(
    'bulkdata-type-filter-3',
    '_typefilter-query-parameter',
    'The context of a search in _typeFilter is a single type',
    async ({ get }) => {
      for (const filter of ['?_id=x', 'Patient/x/Observation?code=x'])
        assert.equal(
          (await get(`$export?_typeFilter=${encodeURIComponent(filter)}`, respondAsync)).status,
          400,
          filter,
        );
    },
  ),
  shall(
    'bulkdata-organize-1',
    'query-parameters',
    'With organizeOutputBy files are organized by instances',
    noOrganized,
  ),
  shall(
    'bulkdata-error-1',
    'response---error-eg-unsupported-search-parameter',
    'A kick-off that is refused has an OperationOutcome in JSON as its body',
    async ({ get }) => {
      const answer = await get('$export?_type=Nonsense', respondAsync);
      assert.equal(answer.status, 400);
      assert.equal(answer.json.resourceType, 'OperationOutcome');
      assert.match(answer.headers.get('content-type') ?? '', /^application\/fhir\+json/);
    },
  ),
];
