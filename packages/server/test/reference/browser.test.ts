/** The pages in a browser, where Chromium is installed: a token is got, requests are sent, and nothing is kept but in the tab. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { openBrowser, type Page } from '../../../../bench/reference/browser.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const program = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (name) => spawnSync('which', [name]).status === 0,
);
const skip = program === undefined && 'Chromium is not installed';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const caller = await openCaller(service, full, maple);
await caller.send('PUT', 'Patient/p1', patient('Quill', { id: 'p1' }));

/** Fills in fields by their ids, as a reader does. */
async function fill(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  await page.evaluate(`for (const [id, value] of Object.entries(${JSON.stringify(values)})) {
    const field = document.getElementById(id);
    field.value = value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }`);
}

const textOf = (selector: string): string => `document.querySelector(${JSON.stringify(selector)}).textContent`;
const click = (selector: string): string => `document.querySelector(${JSON.stringify(selector)}).click()`;

test('a reader gets a token, sends requests and reads the answers', { skip }, async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'praxis-browser-'));
  const browser = await openBrowser(program ?? '', directory);
  try {
    const page = await browser.openPage({ width: 1200, height: 800 });
    await page.open(`${service.origin}/docs/reference/Patient/searchPatient`);
    await page.evaluate(click('[type=submit]'));
    assert.equal(await page.evaluate(textOf('#state')), 'Fill in where the request goes.');

    const place = { environment: 'sandbox', firm: 'maple', product: 'pm', realm: 'sandbox' };
    const client = { apiKey: full.clientKey, clientId: full.clientId, clientSecret: full.clientSecret };
    const fields = Object.entries({ ...place, ...client }).map(([name, value]) => [`credential-${name}`, value]);
    await fill(page, { ...Object.fromEntries(fields), 'query-family': 'quill & co' });
    const url = `${service.origin}/sandbox/firm/maple/pm/fhir/v2/Patient?family=quill%20%26%20co`;
    for (const name of ['curl', 'typescript', 'python'])
      assert.ok((await page.evaluate<string>(textOf(`[data-sample=${name}]`))).includes(url), name);

    await fill(page, { 'credential-clientSecret': 'wrong' });
    await page.evaluate(click('#get-token'));
    await page.until(`${textOf('#token-state')}.includes('client_secret')`);
    await fill(page, { 'credential-clientSecret': full.clientSecret, 'query-family': 'quill' });
    await page.evaluate(click('#get-token'));
    await page.until(`${textOf('#token-state')}.startsWith('Valid until')`);
    await page.evaluate(click('[type=submit]'));
    await page.until("!document.getElementById('answer').hidden");
    assert.match(await page.evaluate(textOf('#answer-line')), /^200 OK · \d+ ms$/);
    const shown = JSON.parse(await page.evaluate(textOf('#answer-body')));
    assert.deepEqual([shown.entry.length, shown.entry[0].resource.id], [1, 'p1']);
    assert.match(await page.evaluate(textOf('#answer-headers')), /^x-request-id: \S+$/m);

    await page.evaluate("document.querySelector('.tabs [value=Python]').click()");
    await page.open(`${service.origin}/docs/reference/Patient/readPatient`);
    assert.equal(await page.evaluate("document.querySelector('.tabs [value=Python]').checked"), true);
    await page.evaluate(click('#find-id'));
    await page.until("document.getElementById('path-id').value === 'p1'");
    await page.evaluate(click('[type=submit]'));
    await page.until("!document.getElementById('answer').hidden");
    assert.match(await page.evaluate(textOf('#answer-line')), /^200 OK · /);

    await page.open(`${service.origin}/docs/reference/Patient/createPatient`);
    await page.evaluate(click('[type=submit]'));
    await page.until("!document.getElementById('answer').hidden");
    assert.match(await page.evaluate(textOf('#answer-line')), /^201 Created · /);

    const kept = await page.evaluate<Record<string, string>>('({ ...sessionStorage })');
    assert.deepEqual(
      Object.keys(kept).sort(),
      ['apiKey', 'clientId', 'environment', 'firm', 'language', 'product', 'realm', 'token'].map(
        (name) => `praxis-docs-${name}`,
      ),
    );
    assert.deepEqual(await page.evaluate('[localStorage.length, document.cookie]'), [0, '']);
    await page.evaluate(click('#forget'));
    const left = await page.evaluate<string>('JSON.stringify({ ...sessionStorage })');
    for (const secret of [full.clientKey, full.clientId, 'eyJ']) assert.ok(!left.includes(secret));
    // Of the wrong secret; browsers tell each refusal.
    assert.deepEqual(page.errors(), [
      'Failed to load resource: the server responded with a status of 401 (Unauthorized)',
    ]);
    await page.close();
  } finally {
    await browser.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

test('the search of the pages leads on, and no script can write markup', { skip }, async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'praxis-browser-'));
  const browser = await openBrowser(program ?? '', directory);
  try {
    const page = await browser.openPage({ width: 390, height: 800 });
    await page.open(`${service.origin}/docs`);
    await fill(page, { 'search-field': 'book type' });
    await page.until("document.querySelectorAll('#search-results a').length > 0");
    assert.equal(
      await page.evaluate("document.querySelector('#search-results a').getAttribute('href')"),
      '/docs/reference/Appointment/bookAppointmentOfType',
    );
    await fill(page, { 'search-field': '<img src=x>' });
    await page.until(`${textOf('#search-results')} === 'Nothing found'`);
    // Nothing is wider than the screen.
    for (const at of ['/docs', '/docs/reference/Patient/searchPatient', '/docs/guides/first-call']) {
      await page.open(service.origin + at);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= 390'), true, at);
    }
    assert.deepEqual(page.errors(), []);
    await assert.rejects(page.evaluate("document.body.innerHTML = '<b>markup</b>'"), /TrustedHTML/);
    await page.close();
  } finally {
    await browser.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

test('requests of administrators go to the origin of the page, and `constructor` is no environment', {
  skip,
}, async (t) => {
  const elsewhere = await openTestService(t, { PRAXIS_ENVIRONMENT_ORIGINS: 'sandbox=http://127.0.0.1:1' });
  const directory = mkdtempSync(path.join(tmpdir(), 'praxis-browser-'));
  const browser = await openBrowser(program ?? '', directory);
  try {
    const page = await browser.openPage({ width: 1200, height: 800 });
    const curl = textOf('[data-sample=curl]');
    await page.open(`${elsewhere.origin}/docs/administration/account/accountList`);
    await fill(page, { 'path-environment': 'sandbox' });
    assert.ok((await page.evaluate<string>(curl)).includes(`${elsewhere.origin}/admin/`));
    await page.open(`${elsewhere.origin}/docs/reference/Patient/searchPatient`);
    for (const [environment, origin] of [
      ['sandbox', 'http://127.0.0.1:1'],
      ['constructor', elsewhere.origin],
    ] as const) {
      await fill(page, { 'credential-environment': environment });
      assert.ok((await page.evaluate<string>(curl)).includes(`${origin}/${environment}/`), environment);
    }
    await page.close();
  } finally {
    await browser.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
