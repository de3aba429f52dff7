/**
 * The floor: what the same machine and the same database do without any of the product's work, by handlers as plain as they can
 * be. As owner of the database, which no row-level security holds.
 *
 * - POST `/token` and `/refresh` on bare node:http (tokens.ts);
 * - GET `/read/:id` on Fastify: one prepared SELECT by primary key, the content sent as it is;
 * - GET of a planned answer: one prepared statement, then what the product has answered;
 * - POST and PUT of planned writes: the body is parsed, one prepared statement writes, then what the product has answered;
 * - POST `/insert`: one durable transaction that inserts two rows into a table without anything else.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import Fastify, { type FastifyReply } from 'fastify';
import pg from 'pg';
import { systemClock } from '../../../packages/server/src/base/clock.ts';
import { makeResourceId } from '../../../packages/server/src/base/ids.ts';
import { answerParent } from '../answer-parent.ts';
import { type FloorPlan, fillTemplates, type PlannedUpdate, planVariable, type WriteStatement } from './plan.ts';
import { openTokenHandlers } from './tokens.ts';

const plan: FloorPlan = JSON.parse(readFileSync(process.env[planVariable] ?? '', 'utf8'));
const pool = new pg.Pool({ ...plan.database, max: 16 });
const answers = new Map(plan.answers.map((answer) => [answer.path, answer]));
const writes = new Map(plan.writes.map((write) => [write.path, write]));

await pool.query(
  'CREATE TABLE IF NOT EXISTS floor_write (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text NOT NULL)',
);
for (const { path, statement, values, rows } of plan.answers) {
  const found = await pool.query({ ...statement, values: [...values] });
  if (found.rows.length !== rows) throw new Error(`${path}: ${found.rows.length} rows, not ${rows}`);
}
for (const { ids, create } of plan.updates) for (const id of ids) await write(create, [id]);

const fastify = Fastify({ logger: false });
fastify.removeAllContentTypeParsers();
fastify.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));

fastify.get<{ Params: { id: string } }>('/read/:id', async (request, reply) => {
  const { rows } = await pool.query({
    name: 'read',
    text: 'SELECT content FROM resource WHERE firm = $1 AND rtype = $2 AND id = $3',
    values: [plan.firm, plan.patientType, request.params.id],
    rowMode: 'array',
  });
  return await send(reply, 200, rows[0]?.[0]);
});

fastify.get('/answers/:row/:place', async (request, reply) => {
  const answer = answers.get(request.url);
  if (answer === undefined) return await send(reply, 404, '{}');
  await pool.query({ ...answer.statement, values: [...answer.values], rowMode: 'array' });
  return await send(reply, 200, answer.body);
});

fastify.post<{ Body: string }>('/writes/:row', async (request, reply) => {
  const planned = writes.get(request.url);
  if (planned === undefined) return await send(reply, 404, '{}');
  JSON.parse(request.body);
  await write(
    planned.statement,
    Array.from({ length: planned.ids }, () => makeResourceId(systemClock)),
  );
  return await send(reply, planned.status, planned.body);
});

for (const update of plan.updates) {
  const turnOf = openTurns(update);
  fastify.put<{ Body: string; Params: { id: string } }>(`${update.path}/:id`, async (request, reply) => {
    const { id } = request.params;
    JSON.parse(request.body);
    await write(turnOf(id), [id]);
    return await send(reply, 200, update.body);
  });
}

fastify.post<{ Body: string }>('/insert', async (request, reply) => {
  await pool.query({
    name: 'insert',
    text: 'INSERT INTO floor_write (content) VALUES ($1), ($1)',
    values: [request.body],
  });
  return await send(reply, 201, request.body);
});
await fastify.ready();

const tokens = openTokenHandlers(plan, pool);
const server = createServer((request, response) => {
  const handle = tokens.get(request.url ?? '');
  if (handle === undefined) fastify.routing(request, response);
  else void handle(request, response);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  answerParent(`http://127.0.0.1:${port}`, async () => {
    server.closeAllConnections();
    await pool.end();
  });
});

function send(reply: FastifyReply, status: number, body: string | undefined) {
  return reply.code(status).header('content-type', 'application/fhir+json').send(body);
}

async function write({ values, ...statement }: WriteStatement, ids: readonly string[]): Promise<void> {
  await pool.query({ ...statement, values: fillTemplates(values, ids) });
}

/** Which statement is the next one of an id: one and the other in turns. */
function openTurns({ turns: [first, second] }: PlannedUpdate): (id: string) => WriteStatement {
  const isSecond = new Set<string>();
  return (id) => {
    if (isSecond.delete(id)) return second;
    isSecond.add(id);
    return first;
  };
}
