/** The platform of a command as actions work with it: the operator of the machine asks. */
import type { AdminContext } from '../../admin/context.ts';
import { openPasswords } from '../../admin/passwords.ts';
import type { Platform } from '../../app.ts';
import { buildBaseUrl, openOrigins } from '../../http/origins.ts';
import { openBruteForceLimit } from '../../limits/brute-force-limit.ts';
import { openOperatorBudget } from '../../limits/budgets.ts';
import { openSharedCounters } from '../../limits/shared-counters.ts';
import { openRemoteKeys } from '../../oauth/client-auth/remote-keys.ts';

/** Rows of one answer: more than a person reads, fewer than a process holds. */
export const rowsMax = 1_000_000;

/** What an action works with on the command line. */
export function buildActionContext(platform: Platform): AdminContext {
  const { config, database, clock, secrets, store } = platform;
  const origins = openOrigins(config, () => `http://${config.host}:${config.port}`);
  const { jwksLoopback } = config;
  return {
    database,
    clock,
    secrets,
    store,
    rowsMax,
    jwksLoopback,
    passwords: openPasswords(secrets),
    guessLimit: openBruteForceLimit(openSharedCounters(database, clock), secrets, clock),
    address: 'command line',
    remoteKeys: openRemoteKeys(clock, { loopback: jwksLoopback }),
    originOfRealm: (realm) => origins.ofRealm(realm),
    baseUrlOf: ({ environment, prefix }) => buildBaseUrl(origins, { environment, firm: prefix, product: 'pm' }),
    caller: { username: 'command line', role: 'operator', kind: 'command' },
    openBudget: openOperatorBudget,
  };
}
