/**
 * `npm run bench [-- [service | scale | scheduling | booking | revocation | access | restarts | idle | start | workers |
 * memory | stock | ledger | ledger-size | practice-day] [options]]`: each bench tells its options at its top.
 */
import { benchAccess } from './access.ts';
import { benchBooking } from './booking.ts';
import { benchIdle } from './idle.ts';
import { benchLedgerSize } from './ledger-size.ts';
import { benchMemory } from './memory.ts';
import { benchPracticeDay } from './practice-day/bench-practice-day.ts';
import { benchRestarts } from './restarts/bench-restarts.ts';
import { benchRevocation } from './revocation/bench-revocation.ts';
import { benchScale } from './scale/bench-scale.ts';
import { benchScheduling } from './scheduling.ts';
import { benchLedger } from './service/bench-ledger.ts';
import { benchService } from './service/bench-service.ts';
import { benchStock } from './service/bench-stock.ts';
import { benchWorkers } from './service/bench-workers.ts';
import { benchStart } from './start.ts';

const benches: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  /** The service by HTTP beside the floor of the machine. */
  service: benchService,
  /** Searches in small practices beside large ones. */
  scale: benchScale,
  /** Slots and $find beside a plain search. */
  scheduling: benchScheduling,
  /** $find, $hold, $book, $reschedule and a series, by one caller. */
  booking: benchBooking,
  /** Revocation and rotation under load, on two nodes. */
  revocation: benchRevocation,
  /** What a restricted token, the field mask and row-level security cost. */
  access: benchAccess,
  /** Workers that are restarted and killed under load. */
  restarts: benchRestarts,
  /** CPU time of a service that nobody calls. */
  idle: benchIdle,
  /** How long a start takes, and the memory of a worker at rest. */
  start: benchStart,
  /** Two workers beside one. */
  workers: benchWorkers,
  /** Memory of the workers after many requests. */
  memory: benchMemory,
  /** Creates on a distribution's PostgreSQL beside the embedded one. */
  stock: benchStock,
  /** With a long ledger beside an empty one. */
  ledger: benchLedger,
  /** Bytes that an access leaves in the ledger. */
  'ledger-size': benchLedgerSize,
  /** 20 practices at work, by one worker or two. */
  'practice-day': benchPracticeDay,
};

const [first = '', ...rest] = process.argv.slice(2);
const isNamed = first !== '' && !first.startsWith('-');
const bench = benches[isNamed ? first : 'service'];
if (bench === undefined) {
  console.error(`There is no bench ${first}: ${Object.keys(benches).join(', ')}`);
  process.exitCode = 2;
} else {
  process.exitCode = await bench(isNamed ? rest : process.argv.slice(2));
}
