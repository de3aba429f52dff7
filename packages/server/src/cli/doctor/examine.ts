/** All checks of `praxis doctor`, side by side and each within its time. */
import type { Config } from '../../base/config.ts';
import { checkDatabase } from './check-database.ts';
import { checkClock, checkDisk, checkKeyFile } from './check-machine.ts';
import { checkPorts } from './check-ports.ts';
import { checkProxies } from './check-proxies.ts';
import { checkTls } from './check-tls.ts';
import { type Finding, reportOn } from './finding.ts';

/** Longest time of one check; they run side by side. */
const checkMaxMs = 15_000;

/** The findings in the order of the checks. Nothing is changed, and nothing is started. */
export async function examine(config: Config): Promise<readonly Finding[]> {
  const ports = checkPorts(config);
  const found = await Promise.all([
    within('clock', checkClock),
    within('disk', () => checkDisk(config)),
    within('keys', () => checkKeyFile(config)),
    within('database', async () => await checkDatabase(config)),
    within('ports', async () => (await ports).findings),
    within('proxies', async () => await checkProxies(config, (await ports).running)),
    within('tls', async () => await checkTls(config)),
  ]);
  return found.flat();
}

/** A check that fails or takes too long is a finding. */
async function within(
  check: string,
  work: () => readonly Finding[] | Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const { problem, thrown } = reportOn(check);
  const late = Promise.withResolvers<readonly Finding[]>();
  const timer = setTimeout(
    () => late.resolve([problem(`the check took longer than ${checkMaxMs / 1000} s and was given up`)]),
    checkMaxMs,
  );
  try {
    return await Promise.race([Promise.try(work), late.promise]);
  } catch (error) {
    return [thrown(error)];
  } finally {
    clearTimeout(timer);
  }
}
