/** What a shell sees of `praxis`: help by group, the version, what is no command, and completion. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test, { after } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { version } from '../../src/version.ts';
import { type Ended, runPraxis } from './praxis-process.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const files = openScratchDirectory({ after });
const run = (...line: readonly string[]): Promise<Ended> => runPraxis({}, ...line);

test('--version shows the version', async () => {
  assert.deepEqual(await run('--version'), { status: 0, stdout: `${version}\n`, stderr: '' });
});

test('a group is helped before and after its name, a command by its own', async () => {
  const { stdout } = await run('intake', 'help');
  const listed = stdout.split('\n').filter((line) => line.startsWith('praxis intake '));
  assert.equal(listed.length, commands.filter(({ name }) => name.startsWith('intake ')).length);
  for (const line of [
    ['help', 'intake'],
    ['intake', '--help'],
  ])
    assert.equal((await run(...line)).stdout, stdout);
  const command = await run('help', 'intake', 'decide');
  assert.match(command.stdout, /^Usage: praxis intake decide FIRM TASK .*--rest REST/m);
  assert.equal((await run('intake', 'decide', '--help')).stdout, command.stdout);
});

test('no help shows the spelling of before', async () => {
  assert.doesNotMatch((await run('help')).stdout, /authoriz/);
  assert.match((await run('help', 'authorize')).stdout, /^Usage: praxis authorise APPLICATION FIRM/m);
});

test('what is no command is told where it leaves the ones that there are', async () => {
  const refusals = {
    paint: "there is no command 'paint'; praxis help lists all",
    product: "'product' is no whole command; it goes on with one of create",
    'product paint': "'product' has no command 'paint'; it goes on with one of create",
    'legacy sunset': "'legacy sunset' is no whole command; it goes on with one of show, set, clear",
    docter: "there is no command 'docter': did you mean doctor? praxis help lists all",
    'frim list': "there is no command 'frim': did you mean firm list? praxis help lists all",
    'help docter': "there is no command 'docter': did you mean doctor? praxis help lists all",
    'legacy sunst show':
      "'legacy' has no command 'sunst': did you mean legacy sunset show? it goes on with one of report, migrate, sunset show, sunset set, sunset clear, brown-out list, brown-out add, brown-out remove",
  };
  for (const [line, message] of Object.entries(refusals))
    assert.deepEqual(await run(...line.split(' ')), { status: 2, stdout: '', stderr: `praxis: ${message}\n` });
});

test('options, values and settings that are misspelt are told what was meant', async () => {
  const option = await run('firm', 'list', '--enviroment', 'sandbox');
  assert.equal(option.status, 2);
  assert.match(
    option.stderr,
    /^praxis: Unknown option '--enviroment': did you mean --environment\? usage: praxis firm /,
  );
  const value = await run('completion', 'bsh');
  assert.deepEqual(value, {
    status: 2,
    stdout: '',
    stderr: "praxis: SHELL must be one of bash, zsh, not 'bsh': did you mean bash?\n",
  });
  for (const [name, text] of [
    ['PRAXIS_PROT', 'PRAXIS_PROT is not a setting: did you mean PRAXIS_PORT? docs/operate/settings.md lists them'],
    ['PRAXIS_COLOUR', 'PRAXIS_COLOUR is not a setting; docs/operate/settings.md lists them'],
  ] as const)
    assert.deepEqual(await runPraxis({ [name]: '1' }, 'firm', 'list'), {
      status: 2,
      stdout: '',
      stderr: `praxis: ${text}\n`,
    });
  const level = await runPraxis({ PRAXIS_LOG_LEVEL: 'warm' }, 'firm', 'list');
  assert.equal(
    level.stderr,
    'praxis: PRAXIS_LOG_LEVEL must be one of trace, debug, info, warn, error, silent: did you mean warn?\n',
  );
});

test('bash completes groups, commands, options and their values', async () => {
  const script = files.write('completion.bash', (await run('completion', 'bash')).stdout);
  const complete = (...words: readonly string[]): readonly string[] => {
    const program = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _praxis; echo "${COMPREPLY[*]}"';
    const output = execFileSync('bash', ['-c', program, 'bash', script, 'praxis', ...words], { encoding: 'utf8' });
    return output.trim().split(' ');
  };
  assert.deepEqual(complete('inv'), ['invariants']);
  assert.deepEqual(complete('legacy', ''), ['report', 'migrate', 'sunset', 'brown-out']);
  assert.deepEqual(complete('legacy', 'sunset', 's'), ['show', 'set']);
  assert.deepEqual(complete('key', 'issue', 'Sync', '--f'), ['--flow']);
  assert.deepEqual(complete('key', 'issue', 'Sync', '--flow', ''), ['legacy', 'client']);
  assert.deepEqual(complete('completion', ''), ['bash', 'zsh']);
  const zsh = (await run('completion', 'zsh')).stdout;
  assert.match(zsh, /^autoload -U \+X compinit bashcompinit && compinit && bashcompinit\n/);
  assert.equal(zsh.slice(zsh.indexOf('\n') + 1), (await run('completion', 'bash')).stdout);
});
