/** Addresses of names, asked of a name server of this machine. Denials first. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import test, { after } from 'node:test';
import { OutboundError } from '../../src/outbound/outbound-error.ts';
import { resolveByDns } from '../../src/outbound/resolver.ts';

/** Records by name and type (1: A, 28: AAAA); a name without a row does not exist, and `silent` is not answered. */
const records: Readonly<Record<string, Readonly<Record<number, readonly string[]>>>> = {
  'both.example.com': { 1: ['5db8d822', '08080808'], 28: ['26062800022000010000000000000001'] },
  'old.example.com': { 1: ['5db8d822'] },
  'new.example.com': { 28: ['26062800022000010000000000000001'] },
  'inside.example.com': { 1: ['7f000001'] },
  'empty.example.com': {},
};
const questions: string[] = [];

const server = createSocket('udp4');
server.on('message', (query, { port, address }) => {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString());
    at += 1 + length;
  }
  const name = labels.join('.').toLowerCase();
  const type = query.readUInt16BE(at + 1);
  questions.push(name);
  if (name.startsWith('silent')) return;
  const found = records[name];
  const answers = (found?.[type] ?? []).map((hex) => {
    const head = Buffer.from('c00c00000001000000000000', 'hex');
    head.writeUInt16BE(type, 2);
    head.writeUInt16BE(hex.length / 2, 10);
    return Buffer.concat([head, Buffer.from(hex, 'hex')]);
  });
  const head = Buffer.from([
    query[0] ?? 0,
    query[1] ?? 0,
    0x81,
    found === undefined ? 0x83 : 0x80,
    0,
    1,
    0,
    0,
    0,
    0,
    0,
    0,
  ]);
  if (name.startsWith('failing')) head[3] = 0x82;
  head.writeUInt16BE(answers.length, 6);
  server.send(Buffer.concat([head, query.subarray(12, at + 5), ...answers]), port, address);
});
after(() => server.close());
await new Promise((resolve) => server.bind(0, '127.0.0.1', () => resolve(undefined)));
const servers = [`127.0.0.1:${server.address().port}`];
const resolve = async (name: string, signal?: AbortSignal): Promise<readonly string[]> =>
  await resolveByDns(name, signal, servers);

test('a name that is not there, or has no addresses, is not found', async () => {
  for (const name of ['missing.example.com', 'empty.example.com'])
    await assert.rejects(resolve(name), new OutboundError('names a host that is not found'));
});

test('name servers that fail, or are silent until it is given up, are told apart from that', async () => {
  const silent = new OutboundError('names a host whose name servers do not answer');
  await assert.rejects(resolve('failing.example.com'), silent);
  questions.length = 0;
  const stop = new AbortController();
  const resolving = resolve('silent.example.com', stop.signal);
  while (questions.length < 2) await new Promise(setImmediate);
  stop.abort();
  await assert.rejects(resolving, silent);
});

test('all addresses of both families come, those of IPv4 first', async () => {
  const [v6, v4] = ['2606:2800:220:1::1', '93.184.216.34'];
  assert.deepEqual((await resolve('both.example.com')).toSorted(), [v6, '8.8.8.8', v4].toSorted());
  assert.equal((await resolve('both.example.com')).at(-1), v6);
  assert.deepEqual(await resolve('old.example.com'), [v4]);
  assert.deepEqual(await resolve('new.example.com'), [v6]);
  assert.deepEqual(await resolve('inside.example.com'), ['127.0.0.1']);
});

test('names are asked as they are, without a search list, and this machine is not asked for', async () => {
  questions.length = 0;
  await assert.rejects(resolve('missing'), OutboundError);
  assert.deepEqual(new Set(questions), new Set(['missing']));
  questions.length = 0;
  assert.deepEqual(await resolve('localhost'), ['127.0.0.1', '::1']);
  assert.deepEqual(questions, []);
});
