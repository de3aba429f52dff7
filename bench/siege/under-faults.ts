/**
 * The siege with faults: the practice works, a witness writes down what it is promised, a follower reads all changes, a few attacks
 * come in between, and faults are struck in bursts. Outside the windows of faults nobody has an error; at the end nothing is lost
 * and nothing is there twice.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { learnWorld, listAttacks, prepareAttacks } from '../../packages/server/test/support/worst-cases.ts';
import { openAttackers } from './attacks.ts';
import { type Caller, openCaller } from './caller.ts';
import { isError, statusesOf } from './figures.ts';
import { openFollower } from './follower.ts';
import { tryFullDisk } from './full-disk.ts';
import { applicationOf, type Installation, startInstallation } from './installation.ts';
import { lostWrites } from './judgement.ts';
import { brokenPromises } from './kept.ts';
import { isExcused, type Strikes, strikeFaults } from './strikes.ts';
import { type Deed, learnPractice, openVictim } from './victim.ts';
import { openWitness } from './witness.ts';

export interface FaultOptions {
  readonly seconds: number;
  readonly faults: number;
  readonly seed: string;
  /** Requests of the practice a second. */
  readonly pace: number;
  readonly workers: string;
  /** File for what the service says. */
  readonly log: string;
  readonly verbose: boolean;
}

/** At least so much of the time lies outside the windows. */
const outsideMin = 0.5;

/** Attacks under way at once: the faults are what is tried here. */
const attackers = 1;

/** By then appointments from before the sandbox's calendars count, which new ones are judged by (docs/decisions/0190), in ms. */
const settledMs = 10_000;

/** @returns what does not hold */
export async function besiegeWithFaults(options: FaultOptions): Promise<readonly string[]> {
  const settings = { PRAXIS_RATE_LIMIT: '10000', PRAXIS_WORKERS: options.workers };
  const installation = await startInstallation(settings, { isHazardous: true, log: options.log });
  const callers = openCallers(installation);
  try {
    return await strikeAndJudge(options, installation, callers);
  } finally {
    for (const caller of Object.values(callers)) caller.close();
    await installation.stop();
  }
}

type Callers = Readonly<Record<'victim' | 'witness' | 'attacker', Caller>>;

function openCallers({ sandbox }: Installation): Callers {
  const open = (name: string, firm: string): Caller => openCaller(sandbox, applicationOf(sandbox, name), firm, 64);
  return {
    victim: open('Cedar only', 'cedar'),
    witness: open('Full access', 'cedar'),
    attacker: open('Maple only', 'maple'),
  };
}

async function strikeAndJudge(
  { seconds, faults, seed, pace, log, verbose }: FaultOptions,
  installation: Installation,
  callers: Callers,
): Promise<readonly string[]> {
  const attacks = listAttacks();
  const world = await learnWorld(callers.attacker.send);
  await prepareAttacks(callers.attacker.send, attacks);
  const practice = await learnPractice(callers.victim);
  await delay(settledMs);
  const unfit = await tryFullDisk(installation, callers.witness);
  const follower = await openFollower(callers.witness);
  const witness = await openWitness(callers.witness, practice);
  const victim = openVictim(callers.victim, practice, pace);
  const attacking = openAttackers(callers.attacker, world, attacks, { first: 0, count: attackers, total: attackers });

  console.log(`${faults} faults in ${seconds} s, --seed ${seed}; the service's log is ${log}`);
  const onBurst = (line: string): void => void (verbose && console.log(line));
  const strikes = await strikeFaults(installation, { count: faults, ms: seconds * 1000, seed, onBurst });
  const deeds = [...victim.take(), ...witness.deeds];
  const [struck] = await Promise.all([attacking.stop(), victim.stop(), witness.stop()]);
  await follower.stop();

  report(strikes, deeds);
  const broken = [
    ...unfit,
    ...(strikes.outside < outsideMin ? [`only ${percent(strikes.outside)} of the time lie outside windows`] : []),
    ...(installation.ends() > 0 ? [`the service ended by itself ${installation.ends()} times`] : []),
    ...refusals(deeds, strikes),
    ...internalErrors(struck),
    ...(await lostWrites(callers.victim, victim)),
    ...(await brokenPromises(callers.witness, witness.account, follower)),
  ];
  const ledger = installation.command('audit', 'verify');
  console.log(ledger.said.trim());
  return ledger.status === 0 ? broken : [...broken, `audit verify ended with ${ledger.status}`];
}

/** Errors outside the windows, and inside them what no fault excuses. */
function refusals(deeds: readonly Deed[], { windows }: Strikes): string[] {
  const inside = deeds.filter((deed) => isExcused(windows, deed));
  const outside = deeds.filter((deed) => !isExcused(windows, deed));
  return [
    ...linesOf(outside.filter(isError), 'outside windows'),
    ...linesOf(
      inside.filter((deed) => isError(deed) && deed.status !== 0 && deed.status !== 503),
      'within a window',
    ),
  ];
}

function linesOf(deeds: readonly Deed[], when: string): string[] {
  const alike = Map.groupBy(deeds, ({ kind, status }) => `${kind} ${when}: ${status}`);
  return [...alike].map(([what, those]) => `${what}, ${those.length} times: ${those[0]?.said}`);
}

function internalErrors(struck: readonly { readonly name: string; readonly status: number; readonly said: string }[]) {
  return struck.filter(({ status }) => status === 500).map(({ name, said }) => `attack ${name}: 500 ${said}`);
}

function report(strikes: Strikes, deeds: readonly Deed[]): void {
  const { windows, counts, recoveriesMs, outside, leftOut } = strikes;
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  console.log(
    `faults: ${total} in ${windows.length} bursts; ${percent(outside)} of the time lie outside their windows`,
  );
  for (const [name, count] of [...counts].sort()) console.log(`  ${name}: ${count}`);
  if (leftOut !== undefined) console.log(`left out: ${leftOut}`);
  const sorted = recoveriesMs.toSorted((left, right) => left - right);
  const [median, longest] = [sorted[Math.floor(sorted.length / 2)] ?? 0, sorted.at(-1) ?? 0];
  console.log(
    `ready after what was hit is back: ${Math.round(median)} ms (median), ${Math.round(longest)} ms (longest)`,
  );
  const inside = deeds.filter((deed) => isExcused(windows, deed));
  console.log(
    `the practice: ${deeds.length} requests, ${inside.length} of them in windows, with ${statusesOf(inside)}`,
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
