/** Asking for bulk exports and fetching their files, as a client does (https://hl7.org/fhir/uv/bulkdata/export.html). */
import assert from 'node:assert/strict';
import { assertRefused } from '../../support/refusals.ts';
import type { Answer, Caller } from '../../support/service.ts';

export const respondAsync = { prefer: 'respond-async' };

export interface ListedFile {
  readonly type: string;
  readonly url: string;
  readonly count: number;
}

export interface Manifest {
  readonly transactionTime: string;
  readonly request: string;
  readonly requiresAccessToken: boolean;
  readonly output: readonly ListedFile[];
  readonly deleted?: readonly ListedFile[];
  readonly error: readonly ListedFile[];
}

/** A line of a file. */
export interface Line {
  readonly resourceType: string;
  readonly id: string;
  readonly meta: { readonly versionId: string };
  readonly telecom?: unknown;
  readonly entry?: unknown;
}

export async function put(caller: Caller, type: string, id: string, resource: Record<string, unknown>): Promise<void> {
  const answer = await caller.send('PUT', `${type}/${id}`, { ...resource, resourceType: type, id });
  assert.ok(answer.status < 300, answer.text);
}

export function observation(category: string, subject: string, code = 'a'): Record<string, unknown> {
  return {
    resourceType: 'Observation',
    status: 'final',
    code: { text: code },
    category: [{ coding: [{ code: category }] }],
    subject: { reference: `Patient/${subject}` },
  };
}

/** The URL that tells how far an export is. */
export async function begin(caller: Caller, path = '$export'): Promise<string> {
  const answer = await caller.get(path, respondAsync);
  assert.equal(answer.status, 202, answer.text);
  assert.equal(answer.text, '');
  return answer.headers.get('content-location') ?? '';
}

export async function finish(caller: Caller, status: string): Promise<Manifest> {
  for (;;) {
    const answer = await caller.get(status);
    if (answer.status === 200) return answer.json;
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.headers.get('retry-after'), '1');
    assert.match(answer.headers.get('x-progress') ?? '', /^\d+ files planned$/);
  }
}

export async function fetchLines(caller: Caller, { url }: ListedFile): Promise<readonly Line[]> {
  const answer = await caller.get(url, { accept: 'application/fhir+ndjson' });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get('content-type'), 'application/fhir+ndjson; charset=utf-8');
  return answer.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

export async function fetchAll(caller: Caller, { output }: Manifest): Promise<readonly Line[]> {
  const resources: Line[] = [];
  for (const file of output) {
    const lines = await fetchLines(caller, file);
    assert.equal(lines.length, file.count);
    assert.ok(lines.every(({ resourceType }) => resourceType === file.type));
    resources.push(...lines);
  }
  return resources;
}

export async function exportAll(caller: Caller, path?: string): Promise<readonly Line[]> {
  return await fetchAll(caller, await finish(caller, await begin(caller, path)));
}

export const toKeys = (resources: readonly Line[]): readonly string[] =>
  resources.map(({ resourceType, id, meta }) => `${resourceType}/${id}/${meta.versionId}`).toSorted();

export const refused = (
  answer: Answer,
  status: number,
  error: string,
  issue: string,
  diagnostics: string,
  place: string,
) => assertRefused(answer, { status, error, issue, diagnostics, expression: [place] });

export const unknownExport = (answer: Answer) =>
  refused(
    answer,
    404,
    'resource-not-found',
    'not-found',
    'The application has no such export at this firm, or it has expired: begin another one',
    'job',
  );
