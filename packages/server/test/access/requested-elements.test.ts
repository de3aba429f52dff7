/** `_elements` and `_summary`: what the caller asks to leave out, on top of what it may not read. */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  findTypeDefinition,
  type JsonValue,
  parseJson,
  resourceTypesWithEndpoint,
  validateResource,
} from '@praxis/fhir';
import { boxStored, unwrapDisclosed } from '../../src/access/disclosure.ts';
import { disclose, type ElementFilter } from '../../src/access/mask.ts';
import { compilePolicy } from '../../src/access/policy.ts';
import { examplesOf } from './official-examples.ts';

const tag = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' };
const meta = { tag: [tag] };

function filtered(type: string, text: string, filter: ElementFilter, entries: readonly string[] = ['acl/*']): string {
  const box = disclose(compilePolicy(entries, ['acl/*']), 's', type, boxStored(text), () => true, filter);
  assert.ok(box !== undefined);
  return unwrapDisclosed(box);
}

const observation = `{"resourceType":"Observation","id":"o","text":{"status":"generated","div":"<div/>"},"contained":[{"resourceType":"Patient","id":"c"}],
  "status":"final","_status":{"id":"s"},"code":{"text":"x","coding":[{"code":"y"}]},"valueQuantity":{"value":1.00,"unit":"kg"},"note":[{"text":"n"}],
  "component":[{"id":"c1","code":{"text":"z"},"valueQuantity":{"value":2.50},"interpretation":[{"text":"high"}]}]}`;

test('_elements never shows what may not be read', () => {
  const text = '{"resourceType":"Patient","id":"1","name":[{"text":"N"}],"gender":"male","birthDate":"1970"}';
  const shown = filtered('Patient', text, { elements: new Set(['name', 'birthDate', 'telecom']) }, [
    'acl/pat_s_name_gen',
  ]);
  assert.deepEqual(JSON.parse(shown), { resourceType: 'Patient', id: '1', name: [{ text: 'N' }], meta });
});

test('_summary never shows what may not be read', () => {
  const text =
    '{"resourceType":"Patient","id":"1","text":{"status":"empty"},"name":[{"text":"N"}],"gender":"male","active":true,"contact":[{"gender":"male"}]}';
  for (const [summary, expected] of [
    ['true', { gender: 'male' }],
    ['data', { gender: 'male' }],
    ['text', {}],
  ] as const) {
    const shown = filtered('Patient', text, { summary }, ['acl/pat_s_gen']);
    assert.deepEqual(JSON.parse(shown), { resourceType: 'Patient', id: '1', ...expected, meta }, summary);
  }
});

test('_elements keeps the elements asked for, mandatory ones, id and meta; decimals keep their digits', () => {
  const shown = filtered('Observation', observation, { elements: new Set(['value', 'nonsense']) });
  assert.equal(
    shown,
    `{"resourceType":"Observation","id":"o","status":"final","_status":{"id":"s"},"code":{"text":"x","coding":[{"code":"y"}]},"valueQuantity":{"value":1.00,"unit":"kg"},"meta":${JSON.stringify(meta)}}`,
  );
  assert.equal(filtered('Observation', observation, { elements: new Set(['value[x]']) }), shown);
});

test('_summary=true keeps summary elements, in parts of elements too', () => {
  assert.deepEqual(JSON.parse(filtered('Observation', observation, { summary: 'true' })), {
    resourceType: 'Observation',
    id: 'o',
    status: 'final',
    _status: { id: 's' },
    code: { text: 'x', coding: [{ code: 'y' }] },
    valueQuantity: { value: 1, unit: 'kg' },
    component: [{ code: { text: 'z' }, valueQuantity: { value: 2.5 } }],
    meta,
  });
});

test('_summary=text keeps narrative and mandatory elements, _summary=data all but narrative', () => {
  assert.deepEqual(Object.keys(JSON.parse(filtered('Observation', observation, { summary: 'text' }))), [
    'resourceType',
    'id',
    'text',
    'status',
    '_status',
    'code',
    'meta',
  ]);
  assert.deepEqual(Object.keys(JSON.parse(filtered('Observation', observation, { summary: 'data' }))), [
    'resourceType',
    'id',
    'contained',
    'status',
    '_status',
    'code',
    'valueQuantity',
    'note',
    'component',
    'meta',
  ]);
});

test('_elements and _summary together leave what both keep', () => {
  assert.deepEqual(
    Object.keys(
      JSON.parse(filtered('Observation', observation, { summary: 'true', elements: new Set(['note', 'component']) })),
    ),
    ['resourceType', 'id', 'status', '_status', 'code', 'component', 'meta'],
  );
});

test('without _elements and _summary nothing is left out and nothing is tagged', () => {
  assert.equal(filtered('Observation', observation, {}), observation);
});

function errorsOf(text: string, type: string): readonly string[] {
  return validateResource(parseJson(text), { type })
    .filter((issue) => issue.severity === 'error')
    .map((issue) => `${issue.path} ${issue.rule}`);
}

test('an official example of each type stays valid under each filter, but for references to contained resources', () => {
  const dangling = / reference$/;
  const filters: readonly ElementFilter[] = [
    { summary: 'true' },
    { summary: 'text' },
    { summary: 'data' },
    { elements: new Set(['identifier', 'code']) },
  ];
  for (const type of resourceTypesWithEndpoint) {
    for (const { file, text } of examplesOf(type, 1)) {
      if (errorsOf(text, type).length > 0) continue;
      for (const filter of filters)
        assert.deepEqual(
          errorsOf(filtered(type, text, filter), type).filter((error) => !dangling.test(error)),
          [],
          `${file} ${JSON.stringify(filter)}`,
        );
    }
  }
});

test('every member that a filter keeps is one of the example', () => {
  for (const type of resourceTypesWithEndpoint) {
    for (const { file, text } of examplesOf(type, 1)) {
      const shown = JSON.parse(filtered(type, text, { summary: 'true' }));
      const whole: Record<string, JsonValue> = JSON.parse(text);
      const elements = findTypeDefinition(type)?.elements;
      for (const key of Object.keys(shown)) {
        if (key === 'meta' || key === 'resourceType') continue;
        const definition = elements?.get(key);
        if (definition) assert.ok(definition.summary || definition.min > 0, `${file} ${key}`);
        if (!definition?.children) assert.deepEqual(shown[key], whole[key], `${file} ${key}`);
      }
    }
  }
});
