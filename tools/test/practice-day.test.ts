/** The practice day of the benchmarks: what comes when, and what its figures come to. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { computeRate, hours, isBurst, scheduleArrivals } from '../../bench/practice-day/arrivals.ts';
import { Journal } from '../../bench/practice-day/journal.ts';
import { judgeCourse } from '../../bench/practice-day/memory-course.ts';
import { errands } from '../../bench/practice-day/mix.ts';
import { planDay } from '../../bench/practice-day/plan.ts';
import { Line } from '../../bench/service/line.ts';
import { openRandom } from '../../packages/server/src/synthetic/random.ts';

describe('practice day', () => {
  it('reads in nine of ten requests', () => {
    const count = (isWanted: (isRead: boolean) => boolean): number =>
      errands.reduce(
        (sum, { weight, steps }) => sum + weight * steps.filter((step) => isWanted(step.isRead)).length,
        0,
      );
    const share = count((isRead) => isRead) / count(() => true);
    assert.ok(Math.abs(share - 0.9) < 0.005, `${share}`);
  });

  it("has as many arrivals as it was asked for, three times the mean at 8 o'clock", () => {
    const seconds = 1000;
    const arrivals = [...scheduleArrivals(seconds, 100, openRandom('test'))];
    assert.ok(Math.abs(arrivals.length - 100_000) < 1500, `${arrivals.length}`);
    assert.deepEqual(
      arrivals,
      arrivals.toSorted((one, other) => one - other),
    );
    const burst = arrivals.filter((ms) => isBurst(ms / 1000 / seconds));
    const perSecond = burst.length / (seconds / hours / 4);
    assert.ok(Math.abs(perSecond / 100 - computeRate(0.1)) < 0.15, `${perSecond}`);
    assert.ok(computeRate(0.1) > 3 && computeRate(0.1) < 3.3);
  });

  it('has practices whose sizes and shares follow Zipf', () => {
    const { practices, applications } = planDay(4000);
    const [first, second] = practices;
    assert.equal(practices.length, 20);
    assert.ok(Math.abs((first?.patients ?? 0) - 2 * (second?.patients ?? 0)) <= 1);
    assert.ok(Math.abs(practices.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-9);
    const names = new Set(applications.map(({ name }) => name));
    for (const practice of practices)
      for (const name of Object.values(practice.applications)) assert.ok(names.has(name), name);
  });

  it('counts latencies from when requests were due, by kind, hour and burst', () => {
    const journal = new Journal(10);
    const entry = { isRead: true, bytes: 10, isConflict: false, error: undefined };
    journal.note({ ...entry, kind: 'read', dueMs: 1100, answeredMs: 1103 });
    journal.note({ ...entry, kind: 'book', isRead: false, dueMs: 9900, answeredMs: 10_100, error: 'book: 500' });
    const figures = journal.computeFigures();
    assert.deepEqual([figures.offered, figures.answered, figures.readShare], [0.2, 0.1, 0.5]);
    assert.deepEqual(figures.errors, { 'book: 500': 1 });
    assert.deepEqual([figures.burst.requests, figures.burst.p999Ms], [1, 3]);
    assert.deepEqual([figures.kinds['book']?.longestMs, figures.hours[9]?.longestMs], [200, 200]);
  });

  it('finds the slope of memory in the last half', () => {
    const points = Array.from({ length: 601 }, (_, seconds) => ({
      seconds,
      megabytes: seconds < 300 ? seconds : 300 + (seconds % 2) + (seconds - 300) / 60,
    }));
    const { slope, uncertainty, mostMegabytes } = judgeCourse(points);
    assert.ok(Math.abs(slope - 60) < 2 && uncertainty < 2, `${slope} ± ${uncertainty}`);
    assert.equal(Math.round(mostMegabytes), 306);
  });
});

describe('line', () => {
  it('gives the body of an answer, in chunks or not', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/chunks') response.write('{"a":');
      response.end('"ä"}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const line = new Line(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      const call = { method: 'GET', headers: {} } as const;
      assert.equal(await line.send({ ...call, path: '/chunks' }), 200);
      assert.equal((await line.exchange({ ...call, path: '/chunks' })).body, '{"a":"ä"}');
      const { status, head, body } = await line.exchange({ ...call, path: '/whole' });
      assert.deepEqual([status, body], [200, '"ä"}']);
      assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    } finally {
      line.close();
      server.close();
    }
  });
});
