/** https://hl7.org/fhir/R4/operations.html */
import assert from 'node:assert/strict';
import { patient } from '../support/records.ts';
import { type Clause, type Page, shall, should } from './clause.ts';

const clauses: readonly Clause[] = [
  shall(
    'operations-request-1',
    'request',
    'Operations that change nothing work by GET with primitive parameters in the query',
    async ({ create, get, send, unique }) => {
      const expand = await get('ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/administrative-gender&filter=fem');
      assert.equal(expand.status, 200, expand.text);
      const codes = expand.json.expansion.contains.map(({ code }: { code: string }) => code);
      assert.deepEqual(codes, ['female']);
      const { id } = await create({ ...patient(unique()), meta: { tag: [{ system: 'urn:example:tag', code: 'a' }] } });
      const asked = await get(`Patient/${id}/$meta`);
      const posted = await send('POST', `Patient/${id}/$meta`);
      assert.deepEqual([asked.status, posted.status], [200, 200], `${asked.text}${posted.text}`);
      assert.deepEqual(asked.json, posted.json);
    },
  ),
  should(
    'operations-response-1',
    'response',
    'An operation that fails tells why in an OperationOutcome',
    async ({ get, send }) => {
      for (const answer of [
        await get('ValueSet/$expand?url=http://example.org/fhir/ValueSet/nowhere'),
        await get('ValueSet/$expand?nonsense=1'),
        await get('Patient/nobody/$everything'),
        await get('Patient/nobody/$nonsense'),
        await send('POST', 'CodeSystem/$lookup', {
          resourceType: 'Parameters',
          parameter: [{ name: 'nonsense', valueCode: 'x' }],
        }),
      ]) {
        assert.ok(answer.status >= 400 && answer.status < 500, answer.text);
        assert.equal(answer.json.resourceType, 'OperationOutcome');
        assert.ok(answer.json.issue[0].diagnostics);
      }
    },
  ),
  shall('operations-response-2', 'response', 'A Binary that an operation returns is answered as a read of it', {
    notApplicable: 'no operation that is offered returns a Binary',
  }),
];

export const operations: Page = {
  name: 'operations',
  title: 'Operations',
  url: 'https://hl7.org/fhir/R4/operations.html',
  clauses,
};
