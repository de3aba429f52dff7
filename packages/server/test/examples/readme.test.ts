/** The quick start of README.md: `npm start` prints what README shows, and the calls that it prints work as printed. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeSecret } from '../../src/base/ids.ts';
import { startPraxis } from '../cli/praxis-process.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { openTestDatabase } from '../support/database.ts';
import { urlOf } from '../support/nodes.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
const skip = spawnSync('which', ['curl']).status === 0 ? false : 'curl not installed';
const callsPrinted = 3;

const { connections } = await openTestDatabase({ after });
const dataDir = openScratchDirectory({ after }).path;

/** The command line of the script `start`, from the name of the command on. */
function startLine(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const [, line = ''] = /praxis\.mjs (.*)$/.exec(scripts.start) ?? [];
  return line.split(' ');
}

/** Starts the sandbox on a free port; resolves to its lines once the first calls are among them. */
async function startSandbox(): Promise<readonly string[]> {
  const settings = {
    DATABASE_URL: urlOf(connections.owner),
    PRAXIS_SECRET_KEY: makeSecret(),
    PRAXIS_DATA_DIR: dataDir,
    PRAXIS_PORT: '0',
    PRAXIS_WORKERS: '1',
  };
  const child = startPraxis(settings, ...startLine());
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  return await new Promise((resolve, reject) => {
    let said = '';
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
      const lines = said.split('\n').filter(Boolean);
      if (lines.filter((line) => line.startsWith('curl ')).length === callsPrinted && said.endsWith('\n'))
        resolve(lines);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    void ended.then(() => reject(new Error(`the sandbox ended before it was ready: ${said}`)));
  });
}

test('the quick start shows what it says, and its three calls get a token, find patients and create one', {
  skip,
}, async () => {
  const [, shown = ''] = /^(praxis ready on )http:\/\/127\.0\.0\.1:8080$/m.exec(readme) ?? [];
  assert.notEqual(shown, '', 'README shows the line that tells when the service is ready');
  const lines = await startSandbox();
  assert.ok(
    lines.some((line) => line.startsWith(`${shown}http://127.0.0.1:`)),
    lines.join('\n'),
  );
  assert.ok(existsSync(path.join(dataDir, 'sandbox.json')));
  const answers: unknown[] = [];
  for (const line of lines.filter((each) => each.startsWith('curl '))) {
    const { stdout } = await promisify(execFile)('sh', ['-c', line]);
    answers.push(JSON.parse(stdout));
  }
  const [token, patients, created] = answers as [
    { token_type: string },
    { type: string; entry: { resource: { resourceType: string } }[] },
    { resourceType: string; name: { family: string }[] },
  ];
  assert.equal(token.token_type, 'Bearer');
  assert.deepEqual(
    [patients.type, patients.entry.map(({ resource }) => resource.resourceType)],
    ['searchset', ['Patient', 'Patient']],
  );
  assert.deepEqual([created.resourceType, created.name[0]?.family], ['Patient', 'Example']);
});
