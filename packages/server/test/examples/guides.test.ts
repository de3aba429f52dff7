/**
 * The guides for vendors are true: bash runs the `sh` blocks of each page in their order, and each prints what the `text` or
 * `json` block after it shows; one without such a block prints nothing. `…` stands for anything, and white space is free.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { runCommand } from '../cli/platform.ts';
import { keepCalendar, plainCalendar, putPlaces } from '../practice/calendars/world.ts';
import { untilTold } from '../support/follower.ts';
import {
  type Caller,
  clientToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  type TestFirm,
} from '../support/service.ts';

const pages = [
  'first-call',
  'tokens',
  'move-from-legacy',
  'search-and-page',
  'follow-changes',
  'bulk-export',
  'retries',
  'limits',
  'booking',
  'documents',
  'intake',
];
/** What a vendor holds who reads and writes patients. */
const entries = ['acl/pat_c', 'acl/pat_r', 'acl/pat_s', 'acl/pat_u'];
/** What the vendor of a page holds beside them. */
const entriesOfPage: Readonly<Record<string, readonly string[]>> = {
  booking: ['acl/slot_s', 'acl/appmt_c', 'acl/appmt_r', 'acl/appmt_u'],
  documents: ['acl/bnry_c_url', 'acl/doc_ref_c', 'acl/doc_ref_r'],
  intake: ['acl/cov_c', 'acl/cov_r', 'acl/cov_s'],
};
const programs = ['bash', 'curl', 'jq'];
const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
const skip = missing.length > 0 ? `${missing.join(' and ')} not installed` : false;

const directory = mkdtempSync(path.join(tmpdir(), 'praxis-guides-'));
after(() => rmSync(directory, { recursive: true }));
const service = await openTestService({ after }, { PRAXIS_RATE_LIMIT: '1250' });

interface Step {
  readonly script: string;
  /** What the page shows as printed; empty: nothing. */
  readonly shown: string;
}

/** The blocks of a page, in their order. */
function stepsOf(page: string): readonly Step[] {
  const text = readFileSync(new URL(`../../../../docs/integrate/${page}.md`, import.meta.url), 'utf8');
  const steps: Step[] = [];
  let isAnswered = true;
  for (const [, indent = '', language, block = ''] of text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)) {
    const content = `\n${block}`.replaceAll(`\n${indent}`, '\n').slice(1);
    if (language === 'sh') steps.push({ script: content, shown: '' });
    else {
      assert.ok(!isAnswered, `a block shows what nothing prints: ${content}`);
      steps.push({ script: steps.pop()?.script ?? '', shown: content });
    }
    isAnswered = language !== 'sh';
  }
  return steps;
}

/** Gives the firm a practitioner with free slots. @param owner with acl/* */
async function openCalendar(firm: TestFirm, owner: Caller): Promise<void> {
  await putPlaces(owner, ['12'], ['3']);
  await keepCalendar(service.platform, firm, plainCalendar);
  await service.service.jobs.settle();
}

/** A firm with five patients, and the values that a reader fills in for `…`. */
async function prepare(
  page: string,
): Promise<{ readonly firm: TestFirm; readonly values: Readonly<Record<string, string>> }> {
  const firm = await makeFirm(service, page);
  const vendor = await makeApplication(
    service,
    `Vendor of ${page}`,
    [...entries, ...(entriesOfPage[page] ?? [])],
    [firm],
  );
  const owner = await openCaller(service, await makeApplication(service, `Owner of ${page}`, ['acl/*'], [firm]), firm);
  for (const [index, family] of ['Silva', 'Simon', 'Smith', 'Stone', 'Sato'].entries()) {
    const patient = { resourceType: 'Patient', name: [{ family, given: ['Ada'] }], birthDate: `199${index}-12-10` };
    assert.equal((await owner.send('POST', 'Patient', patient)).status, 201);
  }
  if (page === 'booking') await openCalendar(firm, owner);
  if (page === 'intake') await runCommand(service.platform, commands, 'intake', 'require', firm.prefix, 'Coverage');
  await untilTold(service.database.owner);
  const values = {
    API_KEY: vendor.clientKey,
    CLIENT_ID: vendor.clientId,
    CLIENT_SECRET: vendor.clientSecret,
    TOKEN: await clientToken(service, vendor),
    LEGACY_KEY: vendor.legacyKey,
    USERNAME: vendor.accounts.get(firm.prefix)?.username ?? '',
    PASSWORD: vendor.accounts.get(firm.prefix)?.password ?? '',
  };
  return { firm, values };
}

/** What each of the scripts printed, all run by one bash that ends at the first failure. */
async function run(scripts: readonly string[]): Promise<readonly string[]> {
  const end = '\u001E';
  const input = scripts.map((script) => `${script}\nprintf '\\036'\n`).join('');
  return await new Promise((resolve, reject) => {
    // Where its input is a socket bash takes itself for a remote shell, and reads the machine's settings.
    execFile('bash', ['--norc', '-euo', 'pipefail', '-c', input], { cwd: directory }, (error, printed, complaints) => {
      const outputs = printed.split(end);
      if (error === null && complaints === '') resolve(outputs.slice(0, -1));
      else reject(new Error(`after ${scripts[outputs.length - 1]}: ${outputs.at(-1)} ${complaints}`));
    });
  });
}

/** Whether a text is the one shown, with anything for `…`. */
function isAsShown(printed: string, shown: string): boolean {
  const text = printed.replaceAll(/\s/g, '');
  const parts = shown.replaceAll(/\s/g, '').split('…');
  const last = parts.pop() ?? '';
  if (parts.length === 0) return text === last;
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = text.indexOf(part, at);
    if (found < 0 || (index === 0 && found > 0)) return false;
    at = found + part.length;
  }
  return text.slice(at).endsWith(last);
}

/** What the operator of move-from-legacy.md has announced. */
const announcement = [
  'legacy',
  'sunset',
  'set',
  '--link',
  'https://example.com/migrate',
  '--deprecated',
  '2026-06-24',
  '--sunset',
  '2027-06-30T12:00:00Z',
];

for (const page of pages) {
  test(`docs/integrate/${page}.md: every block prints what the page shows`, { skip }, async () => {
    const steps = stepsOf(page);
    assert.ok(steps.length > 1);
    const { firm, values } = await prepare(page);
    if (page === 'move-from-legacy')
      await runCommand(service.platform, commands, ...announcement, '--firm', firm.prefix);
    const here = (text: string): string =>
      text.replaceAll('http://127.0.0.1:8080', service.origin).replaceAll('/firm/maple/', `/firm/${firm.prefix}/`);
    const filledIn = (name: string): string => values[name] ?? assert.fail(`nobody has a value for ${name}`);
    const scripts = steps.map(({ script }) =>
      here(script).replaceAll(/^(\w+)=…$/gm, (_line, name: string) => `${name}='${filledIn(name)}'`),
    );
    const printed = await run(scripts);
    for (const [index, { script, shown }] of steps.entries())
      assert.ok(
        isAsShown(printed[index] ?? '', here(shown)),
        `${script}\nprints\n${printed[index]}\nand not\n${shown}`,
      );
  });
}
