/** The commands of docs/operate/offboarding.md do what the page says, in its order. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { createAdministrator } from '../../src/admin/administrators.ts';
import { openPasswords } from '../../src/admin/passwords.ts';
import { commands } from '../../src/cli/commands.ts';
import { ageOperators, password } from '../admin/world.ts';
import { makeFirm, openTestPlatform, runCommand } from '../cli/platform.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';

const opened = await openTestPlatform({ after });
const files = openScratchDirectory({ after });
const platform = { ...opened, config: { ...opened.config, dataDir: path.join(files.path, 'data') } };
const page = readFileSync(new URL('../../../../docs/operate/offboarding.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block.trimEnd().split('\n'));
const placed: readonly string[] = ['maple-2027', 'maple-2027/current', 'key.pem', 'ada.txt', 'bob.txt'];

/** Runs the command of a line; what it prints goes to the file that the line names. */
async function run(line: string): Promise<string> {
  const [, command = '', target] = /^npx praxis (.*?)(?: > (\S+))?$/.exec(line) ?? [];
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
  const result = await runCommand(
    platform,
    commands,
    ...words.map((word) => (placed.includes(word) ? path.join(files.path, word) : word)),
  );
  assert.equal(result.exitStatus, 0, line);
  const text = `${result.output.join('\n')}\n`;
  if (target !== undefined) files.write(target, text);
  return text;
}

test('everything is exported, verified, imported elsewhere, erased and proven', async () => {
  await makeFirm(platform, 'maple', 'prod');
  await makeFirm(platform, 'birch', 'prod');
  for (const username of ['ada', 'bob']) {
    const { database, clock, secrets } = platform;
    const draft = { username, role: 'operator', environment: 'prod', password } as const;
    await createAdministrator({ database, clock, passwords: openPasswords(secrets) }, draft);
    files.write(`${username}.txt`, password);
  }
  await ageOperators({ platform }, 'ada', 'bob');
  const source = files.write('records/a.ndjson', '{"resourceType":"Patient","id":"a","active":true}\n');
  await run(`npx praxis import ${source} --firm maple --environment prod`);
  const [exporting = [], verifying = [], importing = [], erasing = [], proving = [], ...others] = blocks;
  assert.deepEqual(others, []);
  const printed: string[] = [];
  for (const line of [...exporting, ...verifying]) printed.push(await run(line));
  assert.match(printed.join(''), /1 resources, 1 versions, 0 documents[\s\S]*is as it was written/);
  assert.match(
    await run(importing[0] ?? ''),
    /0 documents stored at birch[\s\S]*1 resources stored at birch, 0 refused/,
  );
  for (const line of erasing.slice(0, -1)) await run(line);
  assert.match(
    await run('npx praxis firm erase run'),
    /^firm maple in prod is erased: \d+ rows; praxis firm erase show 1 has the proof\n$/,
  );
  assert.equal(await run('npx praxis firm erase run'), 'no erasure is confirmed\n');
  assert.match(await run(erasing.at(-1) ?? ''), /^state: erased$/m);
  const [shown = '', ...shell] = proving;
  await run(shown);
  const missing = ['bash', 'jq', 'openssl', 'base64'].some((program) => spawnSync('which', [program]).status !== 0);
  if (missing) return;
  const script = shell.join('\n');
  const verified = execFileSync('bash', ['-euo', 'pipefail', '-c', script], { cwd: files.path, encoding: 'utf8' });
  assert.match(verified, /Signature Verified Successfully/);
});
