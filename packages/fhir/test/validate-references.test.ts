import assert from 'node:assert/strict';
import test from 'node:test';
import type { JsonObject } from '../src/json.ts';
import { validateResource } from '../src/validate.ts';
import { assertDecisions } from './decision-table.ts';

test('references and contained resources: each fault is named with path, rule, code and words', () => {
  assertDecisions(`
# references
{"resourceType":"Patient","managingOrganization":{"reference":"Organisation/1"}}
  Patient.managingOrganization.reference | reference | value | "Organisation" is not a resource type: did you mean Organization?
{"resourceType":"Patient","managingOrganization":{"reference":"Organization"}}
  Patient.managingOrganization.reference | reference | value | "Organization" is not a reference: Type/id, Type/id/_history/version, #id or an absolute URL is expected
{"resourceType":"Patient","managingOrganization":{"reference":"Organization/"}}
  Patient.managingOrganization.reference | reference | value | "" is not an id: 1 to 64 of A-Z, a-z, 0-9, "-" and "."
{"resourceType":"Patient","managingOrganization":{"reference":"Organization/a_b"}}
  Patient.managingOrganization.reference | reference | value | "a_b" is not an id: 1 to 64 of A-Z, a-z, 0-9, "-" and "."
{"resourceType":"Patient","managingOrganization":{"reference":"Organization/1/_history/"}}
  Patient.managingOrganization.reference | reference | value | "" is not an id of a version
{"resourceType":"Patient","managingOrganization":{"reference":"Organization/1/history/2"}}
  Patient.managingOrganization.reference | reference | value | "Organization/1/history/2" is not a reference: Type/id, Type/id/_history/version, #id or an absolute URL is expected
{"resourceType":"Patient","managingOrganization":{"reference":"/Organization/1"}}
  Patient.managingOrganization.reference | reference | value | "/Organization/1" is not a reference: Type/id, Type/id/_history/version, #id or an absolute URL is expected
{"resourceType":"Patient","managingOrganization":{"reference":"Organization/1?x=y"}}
  Patient.managingOrganization.reference | reference | value | "Organization/1?x=y" is not a reference: Type/id, Type/id/_history/version, #id or an absolute URL is expected
{"resourceType":"Patient","managingOrganization":{"reference":"organization/1"}}
  Patient.managingOrganization.reference | reference | value | "organization" is not a resource type: did you mean Organization?
{"resourceType":"Patient","managingOrganization":{"reference":"1"}}
  Patient.managingOrganization.reference | reference | value | "1" is not a reference: Type/id, Type/id/_history/version, #id or an absolute URL is expected
{"resourceType":"Patient","managingOrganization":{"reference":"http://example.org/a b"}}
  Patient.managingOrganization.reference | reference | value | "http://example.org/a b" is not a reference: Type/id, Type/id/_history/version, #id or an absolute URL is expected
{"resourceType":"Patient","managingOrganization":{"reference":"urn:uuid:123"}}
  Patient.managingOrganization.reference | reference | value | "urn:uuid:123" is not a UUID after urn:uuid:
{"resourceType":"Patient","managingOrganization":{"reference":"urn:oid:abc"}}
  Patient.managingOrganization.reference | reference | value | "urn:oid:abc" is not an OID after urn:oid:
{"resourceType":"Patient","managingOrganization":{"reference":""}}
  Patient.managingOrganization.reference | empty | structure | may not be empty: leave the element out
{"resourceType":"Patient","managingOrganization":{"reference":"Organization?identifier=a"}}
  Patient.managingOrganization.reference | reference | value | "Organization?identifier=a" is a conditional reference: in a transaction only
{"resourceType":"Bundle","type":"transaction","entry":[{"resource":{"resourceType":"Patient","managingOrganization":{"reference":"Organisation?identifier=a"}}}]}
  Bundle.entry[0].resource.managingOrganization.reference | reference | value | "Organisation" is not a resource type: did you mean Organization?
{"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Patient","managingOrganization":{"reference":"Organization?identifier=a"}}}]}
  Bundle.entry[0].resource.managingOrganization.reference | reference | value | "Organization?identifier=a" is a conditional reference: in a transaction only
{"resourceType":"Patient","managingOrganization":{"reference":"#"}}
  Patient.managingOrganization.reference | reference | value | may be "#" only inside a contained resource (ref-1)
{"resourceType":"Patient","managingOrganization":{"reference":"#o"}}
  Patient.managingOrganization.reference | reference | value | "#o" must be the id of a contained resource (ref-1)
{"resourceType":"Patient","managingOrganization":{"reference":"Practitioner/1"}}
  Patient.managingOrganization.reference | reference-target | value | may not point to Practitioner: allowed is Organization
{"resourceType":"Patient","managingOrganization":{"reference":"https://example.org/fhir/Practitioner/1/_history/2"}}
  Patient.managingOrganization.reference | reference-target | value | may not point to Practitioner: allowed is Organization
{"resourceType":"Patient","managingOrganization":{"type":"Practitioner","display":"A"}}
  Patient.managingOrganization.type | reference-target | value | may not point to Practitioner: allowed is Organization
{"resourceType":"Patient","managingOrganization":{"reference":"Organization/1","type":"Practitioner"}}
  Patient.managingOrganization.type | reference-target | value | must agree with the reference: Practitioner is not Organization
{"resourceType":"Patient","managingOrganization":{"type":"Organisation","display":"A"}}
  Patient.managingOrganization.type | reference-target | value | "Organisation" is not a resource type: did you mean Organization?
{"resourceType":"Patient","managingOrganization":{"reference":"#o"},"contained":[{"resourceType":"Practitioner","id":"o"}]}
  Patient.managingOrganization.reference | reference-target | value | may not point to Practitioner: allowed is Organization
{"resourceType":"Patient","link":[{"type":"refer","other":{"reference":"Practitioner/1"}}]}
  Patient.link[0].other.reference | reference-target | value | may not point to Practitioner: allowed is Patient, RelatedPerson
{"resourceType":"Patient","managingOrganization":"Organization/1"}
  Patient.managingOrganization | type | structure | must be a JSON object (Reference)
{"resourceType":"Patient","managingOrganization":{}}
  Patient.managingOrganization | empty | structure | may not be an empty object: leave the element out
{"resourceType":"Provenance","target":[{"reference":"Everything/1"}],"recorded":"2020-01-01T00:00:00Z","agent":[{"who":{"display":"A"}}]}
  Provenance.target[0].reference | reference | value | "Everything" is not a resource type
{"resourceType":"Bundle","type":"collection","entry":[{"resource":{"resourceType":"Organization","id":"o","name":"A"}},{"resource":{"resourceType":"Patient","managingOrganization":{"reference":"#o"}}}]}
  Bundle.entry[1].resource.managingOrganization.reference | reference | value | "#o" must be the id of a contained resource (ref-1)
# contained resources
{"resourceType":"Patient","contained":[{"resourceType":"Organization","id":"o","name":"A"}]}
  Patient.contained[0] | contained | invariant | must be referred to, or refer to its container by "#": nothing refers to "#o" (dom-3)
{"resourceType":"Patient","contained":[{"resourceType":"Organization","name":"A"}]}
  Patient.contained[0] | contained | invariant | must be referred to, or refer to its container by "#": without an id nothing can (dom-3)
{"resourceType":"Patient","contained":[{"resourceType":"Organization","id":"o","name":"A"},{"resourceType":"Organization","id":"o","name":"B"}],"managingOrganization":{"reference":"#o"}}
  Patient.contained[1].id | contained | invariant | "o" is the id of another contained resource, too
{"resourceType":"Patient","contained":[{"resourceType":"Organization","id":"o","meta":{"versionId":"1","lastUpdated":"2020-01-01T00:00:00Z","security":[{"code":"R"}]}}],"managingOrganization":{"reference":"#o"}}
  Patient.contained[0].meta.versionId | contained | invariant | may not stand in a contained resource (dom-4)
  Patient.contained[0].meta.lastUpdated | contained | invariant | may not stand in a contained resource (dom-4)
  Patient.contained[0].meta.security | contained | invariant | may not stand in a contained resource (dom-5)
{"resourceType":"Patient","contained":[{"resourceType":"Organization","id":"o","contained":[{"resourceType":"Organization","id":"p"}],"partOf":{"reference":"#p"}}],"managingOrganization":{"reference":"#o"}}
  Patient.contained[0].contained | contained | invariant | may not stand in a contained resource: contain it in the outer one (dom-2)
  Patient.contained[0].partOf.reference | reference | value | "#p" must be the id of a contained resource (ref-1)
{"resourceType":"Patient","contained":{"resourceType":"Organization","id":"o"},"managingOrganization":{"display":"A"}}
  Patient.contained | type | structure | must be a JSON array: contained may repeat
{"resourceType":"Patient","contained":[{"id":"o"}],"managingOrganization":{"reference":"#o"}}
  Patient.contained[0] | resource-type | structure | must be a resource: resourceType is missing
{"resourceType":"Patient","contained":[{"resourceType":"Organization","id":"o","nam":"A"}],"managingOrganization":{"reference":"#o"}}
  Patient.contained[0].nam | unknown-element | structure | unknown element of Organization: did you mean name?
{"resourceType":"Bundle","type":"collection","contained":[]}
  Bundle.contained | unknown-element | structure | unknown element of Bundle
`);
});

test('references that R4 allows are accepted', () => {
  const organization = (reference: JsonObject, ...contained: JsonObject[]): JsonObject => ({
    resourceType: 'Patient',
    ...(contained.length === 0 ? {} : { contained }),
    managingOrganization: reference,
  });
  const bundle = (type: string, resource: JsonObject) => ({ resourceType: 'Bundle', type, entry: [{ resource }] });
  const contained = { resourceType: 'Organization', id: 'o', name: 'A' };
  const accepted: JsonObject[] = [
    organization({ display: 'A' }),
    organization({ identifier: { value: '1' }, type: 'Organization' }),
    organization({ reference: 'Organization/1' }),
    organization({ reference: 'Organization/a.b-c/_history/2', type: 'Organization' }),
    organization({ reference: 'https://example.org/fhir/Organization/1' }),
    organization({ reference: 'https://example.org/somewhere?else=1' }),
    organization({ reference: 'urn:uuid:C757873D-ec9a-4326-a141-556f43239520' }),
    organization({ reference: 'urn:oid:1.2.3' }),
    organization({ type: 'http://example.org/StructureDefinition/ward', display: 'A' }),
    organization({ reference: '#o' }, contained),
    bundle('transaction', organization({ reference: 'Organization?identifier=a|b' })),
    bundle('collection', organization({ reference: '#o' }, contained)),
  ];
  for (const resource of accepted) assert.deepEqual(validateResource(resource), [], JSON.stringify(resource));
});

test('each way of using a contained resource is one', () => {
  const binary = { resourceType: 'Binary', id: 'b', contentType: 'image/png' };
  const div = (content: string) => ({
    status: 'generated',
    div: `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>`,
  });
  const accepted: JsonObject[] = [
    {
      resourceType: 'Basic',
      code: { text: 'A' },
      contained: [{ ...binary }],
      extension: [{ url: 'http://example.org/a', valueUri: '#b' }],
    },
    {
      resourceType: 'Basic',
      code: { text: 'A' },
      contained: [{ ...binary }],
      extension: [{ url: 'http://example.org/a', valueUrl: '#b' }],
    },
    {
      resourceType: 'Basic',
      code: { text: 'A' },
      contained: [{ ...binary }],
      extension: [{ url: 'http://example.org/a', valueCanonical: '#b' }],
    },
    { resourceType: 'Basic', code: { text: 'A' }, contained: [{ ...binary }], text: div('<img src="#b" alt=""/>') },
    { resourceType: 'Basic', code: { text: 'A' }, contained: [{ ...binary }], text: div("<a href='#b'>A</a>") },
    {
      resourceType: 'Patient',
      contained: [
        {
          resourceType: 'Provenance',
          id: 'p',
          target: [{ reference: '#' }],
          recorded: '2024-01-01T00:00:00Z',
          agent: [{ who: { display: 'A' } }],
        },
      ],
    },
    {
      resourceType: 'Patient',
      managingOrganization: { reference: '#o' },
      contained: [
        { resourceType: 'Organization', id: 'o', partOf: { reference: '#p' } },
        { resourceType: 'Organization', id: 'p', name: 'A' },
      ],
    },
  ];
  for (const resource of accepted) assert.deepEqual(validateResource(resource), [], JSON.stringify(resource));
});
