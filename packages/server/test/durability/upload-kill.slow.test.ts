/**
 * kill -9 while files are uploaded: what was acknowledged is there afterwards, whole; of the rest nothing is visible, and the
 * URL takes the file again.
 * Slow: kills and starts the service and its own database several times.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openPlatform } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { readConfig } from '../../src/base/config.ts';
import { askForUrl, documentOf, linkOf, pdf, putFile, uploadEntries } from '../content/world.ts';
import { testLog } from '../support/cluster.ts';
import { makeDataDir } from '../support/embedded.ts';
import {
  answerOf,
  type Caller,
  callerOf,
  clientForm,
  makeApplication,
  makeFirm,
  type TestApplication,
} from '../support/service.ts';
import { serve } from './serving.ts';

const rounds = 3;
/** So long that the kill meets it while it comes in. */
const large = Buffer.concat([pdf, Buffer.alloc(8_000_000, 'x')]);

async function prepare(dataDir: string): Promise<TestApplication> {
  const platform = await openPlatform({
    config: readConfig({ PRAXIS_DATA_DIR: dataDir }),
    clock: systemClock,
    log: testLog,
  });
  try {
    const place = { platform, origin: '' };
    return await makeApplication(place, 'Scanner', uploadEntries, [await makeFirm(place, 'maple')]);
  } finally {
    await platform.close();
  }
}

async function openScanner(origin: string, application: TestApplication): Promise<Caller> {
  const answer = await answerOf(
    await fetch(`${origin}/auth/realms/sandbox/protocol/openid-connect/token`, {
      method: 'POST',
      headers: { 'x-api-key': application.clientKey },
      body: new URLSearchParams(clientForm(application)),
    }),
  );
  assert.equal(answer.status, 200, answer.text);
  return callerOf({ base: `${origin}/sandbox/firm/maple/pm/fhir/v2` }, answer.json.access_token, application.clientKey);
}

/** Sends half of a file and leaves the connection open. */
function sendHalf(url: string): net.Socket {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(
    `PUT ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-length: ${large.length}\r\n\r\n`,
  );
  socket.write(large.subarray(0, large.length / 2));
  return socket;
}

/** The same URL at the port of another process. */
function at(origin: string, url: string): string {
  const { pathname, search } = new URL(url);
  return `${origin}${pathname}${search}`;
}

test(`kill -9 in the middle of uploads, ${rounds} times: what was acknowledged is whole, of the rest nothing is visible`, async (t) => {
  const dataDir = makeDataDir(t);
  const application = await prepare(dataDir);
  const kept = new Map<string, string>();
  let [serving, broken] = [await serve(dataDir), ''];
  for (let round = 0; round < rounds; round++) {
    const scanner = await openScanner(serving.origin, application);
    if (broken !== '') {
      const named = broken.split('?')[0] ?? '';
      const refused = await scanner.send(
        'POST',
        'DocumentReference',
        documentOf(at(serving.origin, named), { subject: undefined }),
      );
      assert.equal(refused.status, 422, refused.text);
      assert.equal((await putFile(at(serving.origin, broken), large)).status, 200);
    }
    for (const [id, hash] of kept) assert.equal(await downloaded(await linkOf(scanner, id)), hash);
    const bytes = Buffer.concat([pdf, Buffer.from(`round ${round}`)]);
    const { url, attachment } = await askForUrl(scanner, 'application/pdf');
    assert.equal((await putFile(url, bytes)).status, 200);
    const made = await scanner.send('POST', 'DocumentReference', documentOf(attachment, { subject: undefined }));
    assert.equal(made.status, 201, made.text);
    kept.set(made.json.id, createHash('sha256').update(bytes).digest('hex'));
    broken = (await askForUrl(scanner, 'application/pdf')).url;
    const socket = sendHalf(broken);
    const incoming = path.join(dataDir, 'content', 'incoming');
    while (readdirSync(incoming).length <= round) await delay(5); // one is left of each round before, until an hour has passed
    process.kill(-serving.pid, 'SIGKILL');
    await serving.ended;
    socket.destroy();
    serving = await serve(dataDir);
  }
  const scanner = await openScanner(serving.origin, application);
  for (const [id, hash] of kept) assert.equal(await downloaded(await linkOf(scanner, id)), hash);
  process.kill(serving.pid, 'SIGTERM');
  await serving.ended;
});

async function downloaded(link: string): Promise<string> {
  const answer = await fetch(link);
  assert.equal(answer.status, 200);
  return createHash('sha256')
    .update(Buffer.from(await answer.arrayBuffer()))
    .digest('hex');
}
