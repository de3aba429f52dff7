/**
 * `npm run bench -- practice-day`: 20 practices at work on one installation, large and small, from 7 to 17 o'clock. Nine of ten
 * requests read, and a third concerns calendars; at 8 o'clock three times as many come. They come on schedule, whether or not others
 * have been answered, and latencies count from the moment at which a request was due.
 *
 *     npm run bench -- practice-day [--minutes 10] [--rate 250] [--workers 1] [--patients 4000] [--json FILE]
 *     npm run bench -- practice-day --compare [--rounds 10] [--seconds 20] [--capacity-seconds 8] [--connections 16]
 *
 * `--rate`: requests a second, in the mean of the day. `--patients`: of all practices together. `--json`: writes all figures there.
 * Ends with an error when an answer is not as it should be. In a day of 10 minutes or more the service also has to keep up with the
 * schedule and within the bounds of memory (report.ts).
 *
 * `--compare`: two workers beside one, in turns, each with a database that holds the same. A turn is a whole day of `--seconds`,
 * then as many callers as `--connections` who do the same as fast as they can. Ends with an error when two workers answer fewer
 * requests a second than one, or need more than 1.1 times the CPU time for a request, beyond the uncertainty; with fewer than 5 rounds
 * answers alone are judged.
 */
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { listWorkers, startNode } from '../service/nodes.ts';
import { inYard } from '../service/processes.ts';
import { compareWorkers } from './compare-workers.ts';
import { openMeter } from './cost.ts';
import { openStaff, runDay } from './day.ts';
import { openInstallations, settlePlace } from './installations.ts';
import { watchMemory } from './memory-course.ts';
import { planDay } from './plan.ts';
import { formatContents, formatDay, listBroken, summariseContents } from './report.ts';

/** Before what is measured, so that code and plans are warm. */
const warmUpSeconds = 10;

/** Runs the bench with these arguments; returns the exit status. */
export async function benchPracticeDay(args: readonly string[]): Promise<number> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: text('10'),
      rate: text('250'),
      workers: text('1'),
      patients: text('4000'),
      compare: { type: 'boolean', default: false },
      rounds: text('10'),
      seconds: text('20'),
      'capacity-seconds': text('8'),
      connections: text('16'),
      json: { type: 'string' },
    },
  });
  const [minutes, rate, workers] = [values.minutes, values.rate, values.workers].map(Number) as [
    number,
    number,
    number,
  ];
  const plan = planDay(Number(values.patients));
  console.log(`${os.cpus().length} × ${os.cpus()[0]?.model}, Node ${process.version}\n`);
  const { json, broken } = await inYard(async (yard) => {
    if (values.compare)
      return await compareWorkers(yard, plan, {
        rounds: Number(values.rounds),
        seconds: Number(values.seconds),
        capacitySeconds: Number(values['capacity-seconds']),
        connections: Number(values.connections),
        rate,
      });
    const { contents, places } = await openInstallations(yard, plan, 1);
    const [place] = places;
    if (place === undefined) throw new RangeError('there is no database');
    console.log(formatContents(contents));
    const node = await startNode(yard, place, workers);
    const staff = await openStaff(node.origin, contents);
    await settlePlace(place);
    const seconds = minutes * 60;
    await runDay(staff, { seconds: Math.min(seconds, warmUpSeconds), rate, number: 0 });
    const meter = openMeter(node, place);
    const endWatch = watchMemory(listWorkers(node));
    const day = await runDay(staff, { seconds, rate, number: 1 });
    const measured = { workers, rate, day, memory: endWatch(), cost: await meter.read(day.all.requests) };
    for (const line of formatDay(measured)) console.log(line);
    return { json: { ...summariseContents(contents), ...measured }, broken: listBroken(measured) };
  });
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(json, undefined, 1)}\n`);
  for (const line of broken) console.log(`BROKEN: ${line}`);
  return broken.length === 0 ? 0 : 1;
}
