/** Imports at a firm, as a command sends them: of new resources, of later versions, and one that does not end. */
import assert from 'node:assert/strict';
import { importCommands } from '../../src/cli/commands/data/import.ts';
import { runCommand } from '../cli/platform.ts';
import type { ScratchDirectory } from '../cli/scratch-directory.ts';
import { appointment, patient } from '../support/records.ts';
import type { Sweeper } from './sweep.ts';

export async function sweepImport({ platform, firm, during }: Sweeper, files: ScratchDirectory): Promise<void> {
  const importLines = async (name: string, resources: readonly object[], ...more: readonly string[]) => {
    during(`praxis import ${name}`);
    const text = resources.map((each) => `${JSON.stringify(each)}\n`).join('');
    const file = files.write(`${firm.prefix}/${name}.ndjson`, text);
    const line = ['import', file, '--firm', firm.prefix, '--check-references', ...more];
    const { output, progress } = await runCommand(platform, importCommands, ...line);
    assert.ok(
      output.some((told) => told.startsWith('2 resources stored')),
      progress,
    );
  };
  const stone = patient('Stone', { id: 'imported', contact: [{ gender: 'male' }] });
  const booked = appointment('Patient/imported', '2026-12-24T09:00:00Z', { id: 'imported' });
  await importLines('of new resources', [stone, booked], '--lenient-invariants');
  const refused = patient('Stone', { gender: 'x' });
  await importLines('of later versions', [stone, booked, refused], '--anew');
  // Its report cannot be written, so it does not end, and the database keeps what it is made of.
  await assert.rejects(importLines('that is not over', [stone, booked, refused], '--errors', '/dev/full'), /ENOSPC/);
}
