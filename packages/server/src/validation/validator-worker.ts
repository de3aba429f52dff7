/**
 * The thread of a validator: takes one task after another and answers each.
 */
import { parentPort } from 'node:worker_threads';
import { loadOfficialProfiles } from '@praxis/fhir';
import { type Examination, examine } from './examine.ts';
import { toPlain } from './plain.ts';
import { loadProfiles } from './profiles.ts';
import type { ExaminationTask } from './validator.ts';

async function answer(task: ExaminationTask): Promise<Examination> {
  const definitions = new Map(task.definitions);
  const loaded = await loadProfiles(await loadOfficialProfiles(), [...task.profiles, ...task.named], async (url) =>
    definitions.get(url),
  );
  return examine(toPlain(task.text), task.profiles, loaded, task.findingsMax);
}

parentPort?.on('message', (task: ExaminationTask) => {
  answer(task).then(
    (examination) => parentPort?.postMessage(examination),
    (error: unknown) => parentPort?.postMessage({ failure: error instanceof Error ? error.message : String(error) }),
  );
});
