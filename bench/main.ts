/**
 * `npm run bench [-- [service | scale | upkeep | scheduling | booking | revocation | access | restarts | idle | start | workers |
 * memory | stock | ledger | ledger-size | practice-day | export | import | events | events-proof | reference] [options]]`: each bench tells its
 * options at its top.
 */
import { benchAccess } from './access.ts';
import { benchBooking } from './booking.ts';
import { benchEvents } from './events/bench-events.ts';
import { benchEventsProof } from './events/bench-events-proof.ts';
import { benchExport } from './export/bench-export.ts';
import { benchIdle } from './idle.ts';
import { benchImport } from './import/bench-import.ts';
import { benchLedgerSize } from './ledger-size.ts';
import { benchMemory } from './memory.ts';
import { benchPracticeDay } from './practice-day/bench-practice-day.ts';
import { benchReference } from './reference/bench-reference.ts';
import { benchRestarts } from './restarts/bench-restarts.ts';
import { benchRevocation } from './revocation/bench-revocation.ts';
import { benchScale } from './scale/bench-scale.ts';
import { benchUpkeep } from './scale/bench-upkeep.ts';
import { benchScheduling } from './scheduling.ts';
import { benchLedger } from './service/bench-ledger.ts';
import { benchService } from './service/bench-service.ts';
import { benchStock } from './service/bench-stock.ts';
import { benchWorkers } from './service/bench-workers.ts';
import { benchStart } from './start.ts';
import { runWithUsage } from './usage.ts';

interface Bench {
  readonly run: (args: readonly string[]) => Promise<number>;
  /** Its source, from here. */
  readonly source: string;
}

const benches: Readonly<Record<string, Bench>> = {
  /** The service by HTTP beside the floor of the machine. */
  service: { run: benchService, source: './service/bench-service.ts' },
  /** Searches in small practices beside large ones. */
  scale: { run: benchScale, source: './scale/bench-scale.ts' },
  /** Sizes of tables while 3 million resources are updated. */
  upkeep: { run: benchUpkeep, source: './scale/bench-upkeep.ts' },
  /** Slots and $find beside a plain search. */
  scheduling: { run: benchScheduling, source: './scheduling.ts' },
  /** $find, $hold, $book, $reschedule and a series, by one caller. */
  booking: { run: benchBooking, source: './booking.ts' },
  /** Revocation and rotation under load, on two nodes. */
  revocation: { run: benchRevocation, source: './revocation/bench-revocation.ts' },
  /** What a restricted token, the field mask and row-level security cost. */
  access: { run: benchAccess, source: './access.ts' },
  /** Workers that are restarted and killed under load. */
  restarts: { run: benchRestarts, source: './restarts/bench-restarts.ts' },
  /** CPU time of a service that nobody calls. */
  idle: { run: benchIdle, source: './idle.ts' },
  /** How long a start takes, and the memory of a worker at rest. */
  start: { run: benchStart, source: './start.ts' },
  /** Two workers beside one. */
  workers: { run: benchWorkers, source: './service/bench-workers.ts' },
  /** Memory of the workers after many requests. */
  memory: { run: benchMemory, source: './memory.ts' },
  /** Creates on a distribution's PostgreSQL beside the embedded one. */
  stock: { run: benchStock, source: './service/bench-stock.ts' },
  /** With a long ledger beside an empty one. */
  ledger: { run: benchLedger, source: './service/bench-ledger.ts' },
  /** Bytes that an access leaves in the ledger. */
  'ledger-size': { run: benchLedgerSize, source: './ledger-size.ts' },
  /** A bulk export beside COPY through the same gzip. */
  export: { run: benchExport, source: './export/bench-export.ts' },
  /** Imports beside COPY, and beside what is computed alone. */
  import: { run: benchImport, source: './import/bench-import.ts' },
  /** What subscriptions cost writers, and how soon events come. */
  events: { run: benchEvents, source: './events/bench-events.ts' },
  /** Events while everything fails: nothing is lost, nothing is told that must not be. */
  'events-proof': { run: benchEventsProof, source: './events/bench-events-proof.ts' },
  /** Pages of the API reference in Chromium. */
  reference: { run: benchReference, source: './reference/bench-reference.ts' },
  /** 20 practices at work, by one worker or two. */
  'practice-day': { run: benchPracticeDay, source: './practice-day/bench-practice-day.ts' },
};

const [first = '', ...rest] = process.argv.slice(2);
const isNamed = first !== '' && !first.startsWith('-');
const bench = benches[isNamed ? first : 'service'];
if (bench === undefined) {
  console.error(`There is no bench ${first}: ${Object.keys(benches).join(', ')}`);
  process.exitCode = 2;
} else {
  const args = isNamed ? rest : process.argv.slice(2);
  process.exitCode = await runWithUsage(new URL(bench.source, import.meta.url), args, bench.run);
}
