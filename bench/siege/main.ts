/**
 * `npm run siege`: a practice does its ordinary work at a fixed pace while attackers send the worst cases of everything that can
 * be asked, and, with --faults, while processes are killed and stopped. Linux only.
 *
 *     npm run siege -- --overload [--workers N]
 *     npm run siege [-- --seconds N] [--faults N] [--pace N] [--attackers N] [--rate N] [--workers N] [--untimed] [--verbose]
 *
 *     --overload     instead: three times as many ordinary requests as the service can do
 *     --seconds N    length of the siege (1800)
 *     --faults N     instead of many attacks, so many faults in bursts (under-faults.ts); 500 take 2400 s
 *     --log FILE     with faults: what the service says (praxis-siege.log among temporary files)
 *     --seed TEXT    decides which faults come together (the time)
 *     --pace N       requests of the practice a second (6)
 *     --attackers N  requests under way of each attacking application (8)
 *     --rate N       PRAXIS_RATE_LIMIT (1250)
 *     --workers N    PRAXIS_WORKERS (absent: the default)
 *     --untimed      bounds of time are not judged, nor refusals for want of room: for machines that others use as well
 *     --verbose      also what became of each attack
 *
 * Ends with 1 when a bound of `bounds` is broken.
 */
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { listAttacks } from '../../packages/server/test/support/worst-cases.ts';
import { runWithUsage } from '../usage.ts';
import { type Attackers, startAttackers } from './attackers.ts';
import { type Caller, openCaller } from './caller.ts';
import { attackTable, figuresOf, statusesOf, victimTable } from './figures.ts';
import { applicationOf, type Installation, startInstallation } from './installation.ts';
import { brokenBounds, faultsOfAttacks, lostWrites, type Phase } from './judgement.ts';
import { overload, overloadSettings } from './overload.ts';
import { openOwnDelay } from './own-delay.ts';
import { residentBytesOf } from './processes.ts';
import { openPulse } from './pulse.ts';
import { besiegeWithFaults } from './under-faults.ts';
import { learnPractice, openVictim } from './victim.ts';

/** How long the practice works alone first, as a share of the siege, in seconds. */
const aloneSeconds = ({ seconds, untimed }: Options): number =>
  untimed ? 5 : Math.min(120, Math.max(20, seconds / 10));

interface Options {
  readonly seconds: number;
  readonly faults: number;
  readonly log: string;
  readonly seed: string;
  readonly pace: number;
  readonly attackers: number;
  readonly rate: string;
  readonly workers: string | undefined;
  readonly overload: boolean;
  readonly untimed: boolean;
  readonly verbose: boolean;
}

process.exitCode = await runWithUsage(new URL(import.meta.url), process.argv.slice(2), (args) =>
  besiege(readOptions(args)),
);

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '1800' },
      faults: { type: 'string', default: '0' },
      log: { type: 'string', default: path.join(tmpdir(), 'praxis-siege.log') },
      seed: { type: 'string', default: String(Date.now()) },
      pace: { type: 'string', default: '6' },
      attackers: { type: 'string', default: '8' },
      rate: { type: 'string', default: '1250' },
      workers: { type: 'string' },
      overload: { type: 'boolean', default: false },
      untimed: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  });
  const { seconds, log, seed, pace, attackers, rate, workers, overload, untimed, verbose } = values;
  return {
    seconds: Number(seconds),
    faults: Number(values.faults),
    log,
    seed,
    pace: Number(pace),
    attackers: Number(attackers),
    rate,
    workers,
    overload,
    untimed,
    verbose,
  };
}

async function besiege(options: Options): Promise<number> {
  if (options.faults > 0) {
    const broken = await besiegeWithFaults({ ...options, workers: options.workers ?? '2' });
    for (const line of broken) console.log(`BROKEN: ${line}`);
    return broken.length === 0 ? 0 : 1;
  }
  const settings = {
    PRAXIS_RATE_LIMIT: options.rate,
    ...(options.overload ? overloadSettings : {}),
    ...(options.workers === undefined ? {} : { PRAXIS_WORKERS: options.workers }),
  };
  const installation = await startInstallation(settings);
  let attackers: Attackers | undefined;
  try {
    if (options.overload) return judged(await overload(installation));
    attackers = await startAttackers(installation.sandbox, options.attackers);
    return await besiegeWith(options, installation, attackers);
  } finally {
    attackers?.kill();
    await installation.stop();
  }
}

/** The practice is cedar; those who attack are authorised at maple alone. */
async function besiegeWith(options: Options, installation: Installation, attackers: Attackers): Promise<number> {
  const { seconds, untimed } = options;
  const caller = openCaller(installation.sandbox, applicationOf(installation.sandbox, 'Cedar only'), 'cedar', 64);
  const observation = await openObservation(options, installation, caller);
  const alone = await observation.observe(aloneSeconds(options), async (ms) => void (await delay(ms)));
  report('alone', alone);

  attackers.attack();
  const siege = await observation.observe(seconds, async (ms) => void (await delay(ms)));
  report('under siege', siege);
  if (options.verbose) for (const line of victimTable(siege.deeds)) console.log(line);
  const struck = await attackers.stop();
  console.log(`attacks: ${struck.length} sent, ${statusesOf(struck)}`);
  if (options.verbose) for (const line of attackTable(struck)) console.log(line);
  await observation.stop();
  const broken = [
    ...brokenBounds(alone, siege, untimed),
    ...faultsOfAttacks(listAttacks(), struck, untimed),
    ...(await lostWrites(caller, observation.victim)),
  ];
  caller.close();
  reportMemory(installation);
  return judged(broken);
}

/** Prints what is broken. @returns the exit status */
function judged(broken: readonly string[]): number {
  for (const line of broken) console.log(`BROKEN: ${line}`);
  return broken.length === 0 ? 0 : 1;
}

/** The practice at work, and who feels the pulse of the service: both in this process, which does nothing else. */
async function openObservation({ pace }: Options, installation: Installation, caller: Caller) {
  const victim = openVictim(caller, await learnPractice(caller), pace);
  const own = openOwnDelay();
  const workers = installation.workers().length;
  const pulse = openPulse(installation.origin, workers, own);
  return {
    victim,
    async observe(seconds: number, meanwhile: (ms: number) => Promise<void>): Promise<Phase> {
      victim.take();
      victim.takeUnits();
      pulse.take();
      own.take();
      const beganMs = performance.now();
      await meanwhile(seconds * 1000);
      const deeds = victim.take();
      return {
        figures: figuresOf(deeds, (performance.now() - beganMs) / 1000),
        deeds,
        unitsPerRequest: victim.takeUnits() / Math.max(1, deeds.length),
        pulse: pulse.take(),
        workers,
        ownDelayMs: own.take(),
      };
    },
    async stop() {
      await Promise.all([victim.stop(), pulse.stop()]);
      own.stop();
    },
  };
}

function report(name: string, { figures, unitsPerRequest, pulse, ownDelayMs }: Phase): void {
  const { requests, errors, p50Ms, p99Ms, longestMs, goodput } = figures;
  const round = (value: number): string => value.toFixed(1);
  console.log(
    `${name}: ${requests} requests of the practice, ${errors} errors, ${round(goodput)}/s, p50 ${round(p50Ms)} ms, p99 ${round(p99Ms)} ms, longest ${round(longestMs)} ms, ${unitsPerRequest.toFixed(2)} units a request`,
  );
  const silences = pulse.map(
    ({ worker, longestMs: ms, p99Ms: ofMost, beats }) =>
      `worker ${worker} ${round(ms)} ms (${beats} beats, p99 ${round(ofMost)} ms)`,
  );
  console.log(`  longest silence of /health/live: ${silences.join(', ')}; own delay at most ${round(ownDelayMs)} ms`);
}

function reportMemory(installation: Installation): void {
  const megabytes = installation.workers().map((pid) => Math.round(residentBytesOf(pid) / 1_048_576));
  console.log(`resident memory of the workers at the end: ${megabytes.join(', ')} MB`);
}
