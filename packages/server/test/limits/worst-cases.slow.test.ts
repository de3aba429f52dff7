/**
 * Every worst case that the server names of itself, sent one after another: each is answered, or refused for what it is, and none
 * is a fault of the service (docs/decisions/0215).
 * Slow: sends the costliest request of every kind.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { WorstRequest } from '../../src/base/worst-case.ts';
import { loadPractice } from '../../src/cli/sandbox/practice.ts';
import { makeApplication, makeFirm, openCaller, openTestService, startMs } from '../support/service.ts';
import { learnWorld, listAttacks, prepareAttacks } from '../support/worst-cases.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
await loadPractice(service.platform, maple, { seed: 'worst cases', patients: 20, todayMs: startMs });
const { headers } = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

/** Longer than any of the limits, so that what never ends is told from what is slow. */
const answerMaxMs = 60_000;

async function send({ method, path, contentType, headers: own, body }: WorstRequest) {
  const answer = await fetch(path === '' ? maple.base : `${maple.base}/${path}`.replace('/?', '?'), {
    method,
    headers: {
      ...headers,
      accept: 'application/fhir+json',
      ...own,
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    signal: AbortSignal.timeout(answerMaxMs),
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, body: await answer.text() };
}

const attacks = listAttacks();
await prepareAttacks(send, attacks);
const world = await learnWorld(send);

for (const { name, worstCase } of attacks) {
  test(`${name}: ${worstCase.because}`, async () => {
    const { status, body } = await send(worstCase.request(world));
    assert(status < 500, `${status} ${body.slice(0, 500)}`);
    if (status < 400) return;
    const [issue] = JSON.parse(body).issue;
    assert.equal(issue.severity, 'error');
    assert.match(issue.diagnostics, /\S/);
  });
}

test('the names of worst cases tell them apart', () => {
  assert.equal(new Set(attacks.map(({ name }) => name)).size, attacks.length);
});
