/**
 * The floor: what the same machine does without any of the product's work. Three handlers, as plain as they can be:
 *
 * - `/token` on bare node:http: checks a form and signs an RS256 token of the same size;
 * - `/select` on Fastify: one prepared SELECT by primary key, its text sent as it is;
 * - `/insert` on Fastify: one durable transaction that inserts two rows.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import Fastify from 'fastify';
import pg from 'pg';
import { answerParent } from './answer-parent.ts';

const signAsync = promisify(sign);
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const header = Buffer.from('{"alg":"RS256","typ":"JWT","kid":"floor"}').toString('base64url');
const resourceId = process.env.FLOOR_RESOURCE ?? '';
const pool = new pg.Pool({ ...(JSON.parse(process.env.FLOOR_DATABASE ?? '{}') as pg.PoolConfig), max: 16 });

await pool.query('CREATE TABLE IF NOT EXISTS floor_read (id text PRIMARY KEY, content text NOT NULL)');
await pool.query(
  'CREATE TABLE IF NOT EXISTS floor_write (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text NOT NULL)',
);
await pool.query('INSERT INTO floor_read VALUES ($1, $2) ON CONFLICT DO NOTHING', [
  resourceId,
  process.env.FLOOR_CONTENT ?? '',
]);

const fastify = Fastify({ logger: false });
fastify.get<{ Params: { id: string } }>('/select/:id', async (request, reply) => {
  const { rows } = await pool.query({
    name: 'read',
    text: 'SELECT content FROM floor_read WHERE id = $1',
    values: [request.params.id],
  });
  return await reply.header('content-type', 'application/json').send(rows[0].content);
});
fastify.removeAllContentTypeParsers();
fastify.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
fastify.post<{ Body: string }>('/insert', async (request, reply) => {
  await pool.query({
    name: 'write',
    text: 'INSERT INTO floor_write (content) VALUES ($1), ($1)',
    values: [request.body],
  });
  return await reply.code(201).header('content-type', 'application/json').send(request.body);
});
await fastify.ready();

const server = createServer((request, response) => {
  if (request.url === '/token') void token(request, response);
  else fastify.routing(request, response);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  answerParent(`http://127.0.0.1:${port}`, async () => {
    server.closeAllConnections();
    await pool.end();
  });
});

let issued = 0;

async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const form = new URLSearchParams(body);
  if (form.get('grant_type') !== 'client_credentials' || form.get('client_secret') !== process.env.FLOOR_SECRET)
    return void response.writeHead(401).end();
  const nowSeconds = Math.floor(Date.now() / 1000);
  issued += 1;
  const claims = {
    iss: 'floor',
    sub: form.get('client_id'),
    jti: String(issued),
    iat: nowSeconds,
    exp: nowSeconds + 900,
    scope: 'acl/*',
  };
  const content = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  const signature = await signAsync('sha256', Buffer.from(content), privateKey);
  const accessToken = `${content}.${signature.toString('base64url')}`;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      access_token: accessToken,
      expires_in: 900,
      refresh_expires_in: 0,
      token_type: 'Bearer',
      'not-before-policy': 0,
      scope: 'acl/*',
    }),
  );
}
