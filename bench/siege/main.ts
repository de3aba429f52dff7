/**
 * `npm run siege`: a practice does its ordinary work at a fixed pace while attackers send the worst cases of everything that can
 * be asked, and, with --faults, while processes are killed and stopped. Linux only.
 *
 *     npm run siege [-- --seconds N] [--faults N] [--pace N] [--attackers N] [--rate N] [--workers N] [--untimed] [--verbose]
 *
 *     --seconds N    length of the siege (1800)
 *     --faults N     faults spread over it (0); the windows after them are excused
 *     --pace N       requests of the practice a second (6)
 *     --attackers N  requests under way of each attacking application (8)
 *     --rate N       PRAXIS_RATE_LIMIT (1250)
 *     --workers N    PRAXIS_WORKERS (absent: the default)
 *     --untimed      bounds of time are not judged: for machines that others use as well
 *     --verbose      also what became of each attack
 *
 * Ends with 1 when a bound of `bounds` is broken.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type Attack,
  learnWorld,
  listAttacks,
  prepareAttacks,
} from '../../packages/server/test/support/worst-cases.ts';
import { openAttackers, openSilentSockets } from './attacks.ts';
import { type Caller, openCaller } from './caller.ts';
import { attackTable, type Figures, figuresOf, isError, statusesOf } from './figures.ts';
import { type Installation, startInstallation } from './installation.ts';
import { residentBytesOf } from './processes.ts';
import { openPulse } from './pulse.ts';
import { isExcused, strikeFaults, type Window } from './strikes.ts';
import { type Deed, identifierSystem, learnPractice, openVictim, type Victim } from './victim.ts';

/** What has to hold. */
const bounds = {
  /** Longest silence of /health/live, in ms, without faults. */
  silenceMs: 250,
  /** p99 of the practice under siege ÷ alone. */
  p99Ratio: 10,
  /** Goodput under siege ÷ alone. */
  goodputRatio: 0.9,
  /** Units of rate per request under siege ÷ alone. */
  unitsRatio: { min: 0.9, max: 1.1 },
} as const;

/** How long the practice works alone first, as a share of the siege, in seconds. */
const aloneSeconds = (seconds: number): number => Math.min(120, Math.max(10, seconds / 10));

interface Phase {
  readonly figures: Figures;
  readonly deeds: readonly Deed[];
  readonly unitsPerRequest: number;
  readonly silenceMs: number;
}

interface Options {
  readonly seconds: number;
  readonly faults: number;
  readonly pace: number;
  readonly attackers: number;
  readonly rate: string;
  readonly workers: string | undefined;
  readonly untimed: boolean;
  readonly verbose: boolean;
}

process.exitCode = await besiege(readOptions());

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '1800' },
      faults: { type: 'string', default: '0' },
      pace: { type: 'string', default: '6' },
      attackers: { type: 'string', default: '8' },
      rate: { type: 'string', default: '1250' },
      workers: { type: 'string' },
      untimed: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  });
  const { seconds, pace, attackers, rate, workers, untimed, verbose } = values;
  return {
    seconds: Number(seconds),
    faults: Number(values.faults),
    pace: Number(pace),
    attackers: Number(attackers),
    rate,
    workers,
    untimed,
    verbose,
  };
}

async function besiege(options: Options): Promise<number> {
  const settings = {
    PRAXIS_RATE_LIMIT: options.rate,
    ...(options.workers === undefined ? {} : { PRAXIS_WORKERS: options.workers }),
  };
  const installation = await startInstallation(settings);
  const callers = openCallers(installation);
  try {
    return await besiegeWith(options, installation, callers);
  } finally {
    for (const caller of Object.values(callers)) caller.close();
    await installation.stop();
  }
}

type Callers = Readonly<Record<'victim' | 'attacker' | 'accomplice', Caller>>;

/** The practice is cedar; those who attack it are authorised at maple alone. */
function openCallers({ sandbox }: Installation): Callers {
  const application = (name: string) => {
    const found = sandbox.applications.find((each) => each.name === name);
    if (found === undefined) throw new Error(`the sandbox has no application ${name}`);
    return found;
  };
  return {
    victim: openCaller(sandbox, application('Cedar only'), 'cedar', 64),
    attacker: openCaller(sandbox, application('Maple only'), 'maple', 64),
    accomplice: openCaller(sandbox, application('Full access'), 'maple', 64),
  };
}

async function besiegeWith(options: Options, installation: Installation, callers: Callers): Promise<number> {
  const { seconds } = options;
  const attacks = listAttacks();
  const world = await learnWorld(callers.attacker.send);
  await prepareAttacks(callers.attacker.send, attacks);
  const victim = openVictim(callers.victim, await learnPractice(callers.victim), options.pace);
  const pulse = openPulse(installation.origin);
  const alone = await observe(victim, pulse, aloneSeconds(seconds), async (ms) => void (await delay(ms)));
  report('alone', alone);

  const attackers = [callers.attacker, callers.accomplice].map((caller) =>
    openAttackers(caller, world, attacks, options.attackers),
  );
  const silent = openSilentSockets(installation.origin, 'GET /docs HTTP/1.1\r\nhost: x\r\n\r\n', 40);
  let windows: readonly Window[] = [];
  const siege = await observe(victim, pulse, seconds, async (ms) => {
    windows = await strikeFaults(installation, options.faults, ms);
  });
  silent.stop();
  await Promise.all(attackers.map((each) => each.stop()));
  report('under siege', siege);
  const struck = attackers.flatMap((each) => each.take());
  console.log(`attacks: ${struck.length} sent, ${statusesOf(struck)}`);
  if (options.verbose) for (const line of attackTable(struck)) console.log(line);
  await Promise.all([victim.stop(), pulse.stop()]);
  const broken = [
    ...brokenBounds(alone, siege, windows, options.untimed || options.faults > 0),
    ...faultsOfAttacks(attacks, struck, options.faults > 0),
    ...(await lostWrites(callers.victim, victim)),
  ];
  reportMemory(installation);
  for (const line of broken) console.log(`BROKEN: ${line}`);
  return broken.length === 0 ? 0 : 1;
}

async function observe(
  victim: Victim,
  pulse: ReturnType<typeof openPulse>,
  seconds: number,
  meanwhile: (ms: number) => Promise<void>,
): Promise<Phase> {
  victim.take();
  victim.takeUnits();
  pulse.take();
  const beganMs = performance.now();
  await meanwhile(seconds * 1000);
  const deeds = victim.take();
  const { longestMs } = pulse.take();
  const figures = figuresOf(deeds, (performance.now() - beganMs) / 1000);
  return { figures, deeds, unitsPerRequest: victim.takeUnits() / Math.max(1, deeds.length), silenceMs: longestMs };
}

function report(name: string, { figures, unitsPerRequest, silenceMs }: Phase): void {
  const { requests, errors, p50Ms, p99Ms, longestMs, goodput } = figures;
  const round = (value: number): string => value.toFixed(1);
  console.log(
    `${name}: ${requests} requests of the practice, ${errors} errors, ${round(goodput)}/s, p50 ${round(p50Ms)} ms, p99 ${round(p99Ms)} ms, longest ${round(longestMs)} ms, ${unitsPerRequest.toFixed(2)} units a request; longest silence of /health/live ${round(silenceMs)} ms`,
  );
}

function brokenBounds(alone: Phase, siege: Phase, windows: readonly Window[], isUntimed: boolean): string[] {
  const errors = siege.deeds.filter((deed) => isError(deed) && !isExcused(windows, deed));
  const broken: string[] = [];
  const alike = Map.groupBy(errors, ({ kind, status }) => `${kind} of the practice: ${status}`);
  for (const [what, those] of alike) broken.push(`${what}, ${those.length} times: ${those[0]?.said}`);
  if (isUntimed) return broken;
  const p99 = siege.figures.p99Ms / alone.figures.p99Ms;
  const goodput = siege.figures.goodput / alone.figures.goodput;
  const units = siege.unitsPerRequest / alone.unitsPerRequest;
  if (siege.silenceMs > bounds.silenceMs) broken.push(`/health/live was silent for ${Math.round(siege.silenceMs)} ms`);
  if (p99 > bounds.p99Ratio) broken.push(`p99 of the practice is ${p99.toFixed(1)} times that alone`);
  if (goodput < bounds.goodputRatio) broken.push(`goodput of the practice is ${goodput.toFixed(2)} of that alone`);
  if (units < bounds.unitsRatio.min || units > bounds.unitsRatio.max)
    broken.push(`the practice pays ${units.toFixed(2)} times the units that it pays alone`);
  return broken;
}

/** An attack may be refused; it may not break anything. */
function faultsOfAttacks(
  attacks: readonly Attack[],
  struck: readonly { readonly name: string; readonly status: number; readonly said: string }[],
  hasFaults: boolean,
): string[] {
  const broken = struck.filter(({ status }) => status === 500 || (status === 0 && !hasFaults));
  const named = new Map(broken.map(({ name, status, said }) => [`${name}: ${status}`, said]));
  const sent = new Set(struck.map(({ name }) => name));
  const unsent = attacks.filter(({ name }) => !sent.has(name)).map(({ name }) => name);
  return [
    ...[...named].map(([what, said]) => `attack ${what} ${said}`),
    ...(unsent.length === 0 ? [] : [`never sent: ${unsent.join(', ')}`]),
  ];
}

/** Each acknowledged create is there once; none that was not acknowledged is there twice. */
async function lostWrites(caller: Caller, victim: Victim): Promise<string[]> {
  const broken: string[] = [];
  const all = [
    ...victim.acknowledged.map((value) => [value, 1] as const),
    ...victim.uncertain.map((value) => [value, 0] as const),
  ];
  for (const [value, min] of all) {
    const found = await findOne(caller, value);
    if (found < min) broken.push(`an acknowledged create is lost: ${value}`);
    if (found > 1) broken.push(`a create took effect ${found} times: ${value}`);
  }
  console.log(
    `writes: ${victim.acknowledged.length} acknowledged, ${victim.uncertain.length} uncertain, all looked up`,
  );
  return broken;
}

/** How many there are; who has used up the minute waits for the next one. */
async function findOne(caller: Caller, value: string): Promise<number> {
  for (;;) {
    const path = `Patient?identifier=${identifierSystem}|${value}&_summary=count`;
    const { status, body } = await caller.send({ method: 'GET', path });
    if (status === 200) return JSON.parse(body).total;
    if (status !== 429) throw new Error(`looking up a create: ${status} ${body}`);
    await delay(1_000);
  }
}

function reportMemory(installation: Installation): void {
  const megabytes = installation.workers().map((pid) => Math.round(residentBytesOf(pid) / 1_048_576));
  console.log(`resident memory of the workers at the end: ${megabytes.join(', ')} MB`);
}
