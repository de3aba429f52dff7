/** A service whose ledger of one firm has seals of some days, for tests of archives. */
import assert from 'node:assert/strict';
import { serviceLedger } from '../../src/audit/audit-row.ts';
import { commands } from '../../src/cli/commands.ts';
import { runCommand } from '../cli/platform.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import type { Lifetime } from '../support/database.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { openSealing } from './sealing.ts';

export const dayMs = 86_400_000;

/** Five seals of five rows each, of the days of the names, two days apart; the clock stands two days behind the last. */
export async function openArchiveFixture(t: Lifetime) {
  const dataDir = openScratchDirectory(t).path;
  const archives = openScratchDirectory(t).path;
  const service = await openTestService(t, { PRAXIS_DATA_DIR: dataDir });
  const maple = await makeFirm(service, 'maple');
  const cedar = await makeFirm(service, 'cedar');
  const application = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
  const narrow = await makeApplication(service, 'Narrow', ['acl/pat_s_name_dob_gen'], [maple]);
  const sealLedger = openSealing(service, dataDir);
  const run = (...line: readonly string[]) => runCommand(service.platform, commands, ...line);

  /** Two writes, two reads and a search that shows both, under a seal of their own. */
  async function work(mark: string): Promise<void> {
    // Tokens end before the next day.
    const caller = await openCaller(service, application, maple);
    const restricted = await openCaller(service, narrow, maple);
    for (const id of [`${mark}-1`, `${mark}-2`]) {
      assert.equal((await caller.send('PUT', `Patient/${id}`, { ...patient(mark), id })).status, 201);
      assert.equal((await caller.get(`Patient/${id}`)).status, 200);
    }
    assert.equal((await restricted.get(`Patient?family=${mark}`)).status, 200);
    await service.service.parts.ledger.flush();
  }
  async function seal(): Promise<void> {
    for (const ledger of [serviceLedger, maple.id, cedar.id]) await sealLedger(ledger);
  }
  /** When the first row of each mark was written. */
  const times = new Map<string, number>();
  async function workDay(mark: string): Promise<void> {
    times.set(mark, service.clock.now());
    await work(mark);
    await seal();
    service.clock.advance(2 * dayMs);
  }
  const elsewhere = await openCaller(service, application, cedar);
  await elsewhere.send('PUT', 'Patient/other', { ...patient('Other'), id: 'other' });
  for (const mark of ['Ash', 'Birch', 'Cherry', 'Dogwood']) await workDay(mark);

  return {
    service,
    owner: service.database.owner,
    maple,
    cedar,
    application,
    archives,
    run,
    seal,
    work,
    workDay,
    /** The instant at which the rows of a mark begin. */
    dayOf: (mark: string): string => new Date(times.get(mark) ?? assert.fail(mark)).toISOString(),
    archive: (before: string, ...more: readonly string[]) =>
      run('audit', 'archive', '--firm', 'maple', '--before', before, '--to', archives, ...more),
    /** What verify says about the firm: its exit status, and its lines. */
    async verify(...more: readonly string[]) {
      const { exitStatus, output } = await run('audit', 'verify', ...(more.length > 0 ? more : ['--firm', 'maple']));
      return { status: exitStatus, output: output.map((line) => line.trim()) };
    },
  };
}

export type ArchiveFixture = Awaited<ReturnType<typeof openArchiveFixture>>;
