/**
 * `npm run bench -- reference [--pages 20 --chromium PROGRAM --screenshots DIRECTORY]`: pages of operations in Chromium, which has to be
 * installed (Debian: `apt-get install chromium`). The service is one of its own, with a sandbox and one worker. Of each page: time to the
 * first text and to the end of the load event, processor time of its main thread, nodes, errors of the console. The first page makes what
 * all pages of a process share: its time has no bound. Then requests are sent from pages, with a token that a page has got. Ends with an error beyond the bounds:
 * 300 ms to the end of the load event, 3,000 nodes, no error, an answer 200.
 *
 * `--screenshots`: pictures of some pages: light, dark, and as wide as a phone.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { inYard } from '../service/processes.ts';
import { applicationOf, type Installation, startInstallation } from '../siege/installation.ts';
import { type Browser, openBrowser } from './browser.ts';

const loadMaxMs = 300;
const nodesMax = 3_000;
const desktop = { width: 1400, height: 900 };
const phone = { width: 390, height: 844 };

/** Runs the bench with these arguments; returns the exit status. */
export async function benchReference(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      pages: { type: 'string', default: '20' },
      chromium: { type: 'string', default: 'chromium' },
      screenshots: { type: 'string' },
    },
  });
  return await inYard(async (yard) => {
    const installation = await startInstallation({ PRAXIS_WORKERS: '1' });
    yard.onEnd(() => installation.stop());
    const browser = await openBrowser(values.chromium, yard.directory());
    yard.onEnd(() => browser.close());
    const paths = await choosePaths(installation.origin, Number(values.pages));
    const areQuick = await measurePages(browser, installation.origin, paths);
    const isSent = await sendFromPage(browser, installation);
    if (values.screenshots !== undefined) await takePictures(browser, installation, values.screenshots);
    return areQuick && isSent ? 0 : 1;
  });
}

/** Pages that people open, and that of the operation with the most parameters; then others, evenly over all. */
const chosen = [
  '/docs/reference/Patient/readPatient',
  '/docs/reference/Patient/searchPatient',
  '/docs/reference/Patient/createPatient',
  '/docs/reference/Observation/searchObservation',
  '/docs/reference/Appointment/bookAppointmentOfType',
  '/docs/reference/Tokens/clientToken',
  '/docs/reference/System/batchOrTransaction',
];

async function choosePaths(origin: string, count: number): Promise<readonly string[]> {
  // The search index names all; it is asked for after the first page was opened, which a process makes without it.
  const others = (await import('../../packages/server/src/openapi/document.ts')).openApiDocument({
    softwareVersion: '',
    environmentOrigins: new Map(),
    realmOrigins: new Map(),
  });
  const operations = Object.values(others.paths).flatMap((item) =>
    [item.get, item.post, item.put].flatMap((each) => each ?? []),
  );
  const more = operations.map(
    ({ tags: [tag = ''], operationId }) => `/docs/reference/${tag.replace('Every type', 'every-type')}/${operationId}`,
  );
  const step = Math.max(1, Math.floor(more.length / Math.max(1, count - chosen.length)));
  const even = more.filter((_path, index) => index % step === step - 1);
  return [...new Set([...chosen, ...even])].slice(0, count).map((each) => origin + each);
}

async function measurePages(browser: Browser, origin: string, urls: readonly string[]): Promise<boolean> {
  console.log('| page | first text, ms | loaded, ms | processor, ms | nodes | errors |\n|---|---:|---:|---:|---:|---|');
  let areGood = true;
  for (const [index, url] of urls.entries()) {
    const page = await browser.openPage(desktop);
    const { loadMs, paintMs, cpuMs, nodes } = await page.open(url);
    const errors = page.errors();
    console.log(
      `| ${url.slice(origin.length)} | ${paintMs.toFixed(0)} | ${loadMs.toFixed(0)} | ${cpuMs.toFixed(0)} | ${nodes} | ${errors.join('; ') || 'none'} |`,
    );
    areGood &&= (index === 0 || loadMs <= loadMaxMs) && nodes <= nodesMax && errors.length === 0;
    await page.close();
  }
  if (!areGood) console.log(`\nBeyond the bounds: ${loadMaxMs} ms, ${nodesMax} nodes, no errors`);
  return areGood;
}

/** Gets a token in a page of an operation and sends its request, as a reader would. */
async function sendFromPage(browser: Browser, { origin, sandbox }: Installation): Promise<boolean> {
  const { client } = applicationOf(sandbox, 'Full access');
  const page = await browser.openPage(desktop);
  await page.open(`${origin}/docs/reference/Patient/searchPatient`);
  await page.evaluate(fill(client));
  await page.evaluate("document.getElementById('get-token').click()");
  await page.until("document.getElementById('token-state').textContent.startsWith('Valid until')");
  await page.evaluate("document.querySelector('#request [type=submit]').click()");
  await page.until("!document.getElementById('answer').hidden");
  const line = await page.evaluate<string>("document.getElementById('answer-line').textContent");
  const type = await page.evaluate<string>(
    "JSON.parse(document.getElementById('answer-body').textContent).resourceType",
  );
  // The next page of the tab knows the token; an id comes from the service.
  await page.open(`${origin}/docs/reference/Patient/readPatient`);
  await page.evaluate("document.getElementById('find-id').click()");
  await page.until("document.getElementById('path-id').value !== ''");
  await page.evaluate("document.querySelector('#request [type=submit]').click()");
  await page.until("!document.getElementById('answer').hidden");
  const read = await page.evaluate<string>("document.getElementById('answer-line').textContent");
  const kept = await page.evaluate<string>(
    'JSON.stringify([Object.keys(localStorage), document.cookie, Object.keys(sessionStorage).sort()])',
  );
  const errors = page.errors();
  await page.close();
  console.log(
    `\nsent from a page: search ${line} (${type}); read ${read}; kept ${kept}; errors ${errors.join('; ') || 'none'}`,
  );
  return line.startsWith('200') && type === 'Bundle' && read.startsWith('200') && errors.length === 0;
}

/** A script that fills in credentials. */
function fill(client: { readonly apiKey: string; readonly clientId: string; readonly clientSecret: string }): string {
  return `for (const [name, value] of Object.entries(${JSON.stringify(client)})) {
    const field = document.getElementById('credential-' + name);
    field.value = value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }`;
}

async function takePictures(browser: Browser, { origin, sandbox }: Installation, directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const shots = [
    ['home', '/docs', desktop],
    ['home-phone', '/docs', phone],
    ['guide', '/docs/guides/webhook-signatures', desktop],
    ['guide-phone', '/docs/guides/first-call', phone],
    ['operation', '/docs/reference/Patient/searchPatient', desktop],
    ['operation-dark', '/docs/reference/Patient/createPatient', { ...desktop, isDark: true }],
    ['operation-phone', '/docs/reference/Patient/readPatient', phone],
    ['schema', '/docs/schemas/Patient', desktop],
    ['tag', '/docs/reference/Patient', desktop],
  ] as const;
  for (const [name, url, size] of shots) {
    const page = await browser.openPage(size);
    await page.open(origin + url);
    writeFileSync(path.join(directory, `${name}.png`), await page.screenshot());
    writeFileSync(path.join(directory, `${name}-whole.png`), await page.screenshot(true));
    await page.close();
  }
  const page = await browser.openPage(desktop);
  await page.open(`${origin}/docs/reference/Patient/searchPatient`);
  await page.evaluate(fill(applicationOf(sandbox, 'Full access').client));
  await page.evaluate("document.getElementById('get-token').click()");
  await page.until("document.getElementById('token-state').textContent.startsWith('Valid until')");
  await page.evaluate("document.querySelector('#request [type=submit]').click()");
  await page.until("!document.getElementById('answer').hidden");
  await page.evaluate("document.getElementById('answer').scrollIntoView()");
  writeFileSync(path.join(directory, 'answer.png'), await page.screenshot());
  await page.evaluate("document.getElementById('search-field').focus()");
  await page.evaluate(
    "{ const field = document.getElementById('search-field'); field.value = 'book'; field.dispatchEvent(new Event('input')); }",
  );
  await page.until("document.querySelectorAll('#search-results a').length > 0");
  writeFileSync(path.join(directory, 'search.png'), await page.screenshot());
  await page.close();
}
