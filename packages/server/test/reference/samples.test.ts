/** Code samples run as they stand: curl by bash, TypeScript by Node, Python where httpx is installed. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { buildSamples, type SampleRequest, writeSampleScript } from '../../src/reference/operation/samples.ts';
import { clientToken, makeApplication, makeFirm, openTestService } from '../support/service.ts';

const run = promisify(execFile);
const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const env = { ...process.env, TOKEN: await clientToken(service, full), API_KEY: full.clientKey };
const base = `${service.origin}/sandbox/firm/maple/pm/fhir/v2`;
const directory = mkdtempSync(path.join(tmpdir(), 'praxis-samples-'));
after(() => rmSync(directory, { recursive: true }));

const patient = {
  resourceType: 'Patient',
  active: true,
  name: [{ family: 'O\'Neill "Q" \\ $HOME `x` ä' }],
  multipleBirthInteger: 2,
};
const requests: Readonly<Record<string, SampleRequest>> = {
  read: {
    method: 'GET',
    url: `${base}/Patient?family=o%27neill&_format=json`,
    headers: {},
    needsToken: true,
    needsApiKey: true,
  },
  create: {
    method: 'POST',
    url: `${base}/Patient`,
    headers: { 'Content-Type': 'application/fhir+json', Prefer: 'return=representation' },
    needsToken: true,
    needsApiKey: true,
    body: JSON.stringify(patient, undefined, 2),
  },
  search: {
    method: 'POST',
    url: `${base}/Patient/_search`,
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    needsToken: true,
    needsApiKey: true,
    body: 'family=none&_count=1',
  },
  delete: { method: 'DELETE', url: `${base}/Patient/none`, headers: {}, needsToken: true, needsApiKey: true },
  open: { method: 'GET', url: `${base}/metadata`, headers: {}, needsToken: false, needsApiKey: false },
};

function assertAnswered(name: string, answer: string): void {
  if (name === 'delete') return assert.equal(answer.trim(), '');
  const told = JSON.parse(answer);
  const expected = { read: 'Bundle', create: 'Patient', search: 'Bundle', open: 'CapabilityStatement' }[name];
  assert.equal(told.resourceType, expected, answer.slice(0, 300));
  if (name === 'create') assert.equal(told.name[0].family, patient.name[0]?.family);
}

const has = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0;

test('curl', { skip: !has('bash', '-c', 'curl --version') && 'curl is not installed' }, async () => {
  for (const [name, request] of Object.entries(requests)) {
    const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', buildSamples(request).curl], { env });
    assertAnswered(name, stdout);
  }
});

test('TypeScript', async () => {
  for (const [name, request] of Object.entries(requests)) {
    const file = path.join(directory, `${name}.mts`);
    writeFileSync(file, buildSamples(request).typescript);
    assertAnswered(name, (await run(process.execPath, [file], { env })).stdout);
  }
});

test('Python', { skip: !has('python3', '-c', 'import httpx') && 'httpx is not installed' }, async () => {
  for (const [name, request] of Object.entries(requests)) {
    assertAnswered(name, (await run('python3', ['-c', buildSamples(request).python], { env })).stdout);
  }
});

test('Python samples are Python', { skip: !has('python3', '--version') && 'Python is not installed' }, async () => {
  for (const request of Object.values(requests)) {
    await run('python3', ['-c', 'import ast, sys; ast.parse(sys.argv[1])', buildSamples(request).python]);
  }
});

test('no sample holds a credential, and the page writes the same ones', () => {
  const context = vm.createContext({});
  vm.runInContext(writeSampleScript(), context);
  for (const request of Object.values(requests)) {
    const samples = buildSamples(request);
    for (const text of Object.values(samples)) assert.ok(!text.includes(env.TOKEN) && !text.includes(env.API_KEY));
    const ofPage = vm.runInContext(`JSON.stringify(buildSamples(${JSON.stringify(request)}))`, context);
    assert.deepEqual(JSON.parse(ofPage), samples);
  }
});
