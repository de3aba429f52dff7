/** https://hl7.org/fhir/R4/http.html#history, of a resource, a type and the system. */
import assert from 'node:assert/strict';
import { patient } from '../../support/records.ts';
import { type Clause, shall, shallNot, should } from '../clause.ts';
import type { World } from '../world.ts';
import { linkOf } from './searching.ts';

interface Told {
  readonly id: string;
  /** Histories of the resource, of its type and of the system, with nothing that came before. */
  readonly paths: readonly string[];
}

/** A patient that was created, updated and deleted, alone within its second. */
async function toldPatient({ create, send, service, unique }: World): Promise<Told> {
  service.clock.advance(5000);
  const since = `_since=${new Date(service.clock.now()).toISOString()}`;
  const { id } = await create(patient(unique()));
  await send('PUT', `Patient/${id}`, { ...patient('Later'), id });
  await send('DELETE', `Patient/${id}`);
  return { id, paths: [`Patient/${id}/_history?`, `Patient/_history?${since}&`, `_history?${since}&`] };
}

export const history: readonly Clause[] = [
  shall('http-history-1', 'history', 'Every entry has a resource or the method of its request', async (world) => {
    const { paths } = await toldPatient(world);
    for (const path of paths) {
      const { status, json } = await world.get(path);
      assert.deepEqual([status, json.type], [200, 'history'], path);
      assert.deepEqual(
        json.entry.map(({ request }: { request: { method: string } }) => request.method),
        ['DELETE', 'PUT', 'POST'],
        path,
      );
    }
  }),
  shall('http-history-2', 'history', 'Entries of POST and PUT have the resource', async (world) => {
    const { id, paths } = await toldPatient(world);
    for (const path of paths) {
      const { json } = await world.get(path);
      for (const { resource, request } of json.entry)
        assert.equal(resource?.id, request.method === 'DELETE' ? undefined : id, path);
    }
  }),
  should('http-history-3', 'history', 'Entries say when they were processed', async (world) => {
    const { paths } = await toldPatient(world);
    for (const path of paths) {
      const { json } = await world.get(path);
      for (const { response } of json.entry)
        assert.equal(Date.parse(response.lastModified), world.service.clock.now(), path);
    }
  }),
  shallNot('http-history-4', 'history', '_count, _since, _at and _list appear at most once', async (world) => {
    const { paths } = await toldPatient(world);
    for (const path of paths) {
      const { origin, pathname } = new URL(path, `${world.firm.base}/`);
      for (const twice of [
        '_count=1&_count=2',
        '_since=2026-01-01T00:00:00Z&_since=2026-01-02T00:00:00Z',
        '_at=2026&_at=2025',
      ]) {
        const { status, json } = await world.get(`${origin}${pathname}?${twice}`);
        assert.deepEqual([status, json.resourceType], [400, 'OperationOutcome'], `${path} ${twice}`);
      }
    }
  }),
  shall('http-history-5', 'history', 'Pages of a history are told by links and keep to _count', async (world) => {
    const { paths } = await toldPatient(world);
    for (const path of paths) {
      const methods: string[] = [];
      for (let next: string | undefined = `${path}_count=1`; next !== undefined; ) {
        const page = await world.get(next);
        assert.deepEqual([page.status, page.json.entry.length], [200, 1], path);
        methods.push(page.json.entry[0].request.method);
        next = linkOf(page, 'next');
      }
      assert.deepEqual(methods, ['DELETE', 'PUT', 'POST'], path);
    }
  }),
];
