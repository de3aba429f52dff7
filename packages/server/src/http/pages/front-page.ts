/**
 * What is answered at `/`: what this is, and where a newcomer goes next. A page for browsers, JSON for programs that ask for it, and
 * text for all others, such as curl.
 */
import { parseAccept } from '../request/media-types.ts';

export interface FrontPage {
  readonly version: string;
  /** Command lines that work at once at the sandbox, with its credentials; none are shown without. */
  readonly firstCalls: readonly string[];
}

/** The page in the form that an Accept header names (RFC 9110 §12.5.1); text where it names neither HTML nor JSON. */
export function renderFrontPage(page: FrontPage, accept: string | undefined): { type: string; text: string } {
  const ranges = parseAccept(accept ?? '');
  const quality = (type: string): number => ranges.find((range) => range.type === type)?.quality ?? 0;
  const [html, json] = [quality('text/html'), quality('application/json')];
  if (html > 0 && html >= json) return { type: 'text/html', text: renderHtml(page) };
  if (json > 0) return { type: 'application/json', text: renderJson(page) };
  return { type: 'text/plain', text: renderText(page) };
}

const about = 'A practice-management FHIR R4 API that applications use on behalf of medical practices.';

interface Place {
  readonly name: string;
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly note?: string;
  /** A browser can open it. */
  readonly isPage?: true;
}

const places: readonly Place[] = [
  {
    name: 'token',
    title: 'Get a token',
    method: 'POST',
    path: '/auth/realms/{realm}/protocol/openid-connect/token',
    note: 'with grant_type=client_credentials',
  },
  {
    name: 'fhir',
    title: 'Read and write',
    method: 'GET',
    path: '/{environment}/firm/{firm}/{product}/fhir/v2/Patient',
  },
  {
    name: 'metadata',
    title: 'What is served',
    method: 'GET',
    path: '/{environment}/firm/{firm}/{product}/fhir/v2/metadata',
    note: '(no credentials needed)',
  },
  {
    name: 'discovery',
    title: 'Discovery',
    method: 'GET',
    path: '/auth/realms/{realm}/.well-known/openid-configuration',
  },
  { name: 'reference', title: 'Reference', method: 'GET', path: '/docs', isPage: true },
  { name: 'openapi', title: 'Reference as OpenAPI 3.1', method: 'GET', path: '/openapi.json', isPage: true },
  {
    name: 'administration',
    title: 'Administration as OpenAPI 3.1',
    method: 'GET',
    path: '/admin/openapi.json',
    isPage: true,
  },
  { name: 'live', title: 'Liveness', method: 'GET', path: '/health/live', isPage: true },
  { name: 'ready', title: 'Readiness', method: 'GET', path: '/health/ready', isPage: true },
];

const credentials =
  'Every call carries two credentials of the same application: Authorization: Bearer … and x-api-key.';

/** What each of the first calls does, in their order. */
const callTitles = ['Get a token', 'Search patients', 'Create a patient'];

function renderJson({ version, firstCalls }: FrontPage): string {
  const paths = Object.fromEntries(places.map(({ name, method, path }) => [name, `${method} ${path}`]));
  const calls = firstCalls.length === 0 ? {} : { firstCalls };
  return `${JSON.stringify({ name: 'Praxis', version, about, credentials, paths, ...calls }, undefined, 2)}\n`;
}

function renderText({ version, firstCalls }: FrontPage): string {
  const width = Math.max(...places.map(({ title }) => title.length));
  const lines = places.map(({ title, method, path, note }) =>
    [title.padEnd(width), method.padEnd(4), path, note ?? ''].join('  ').trimEnd(),
  );
  const calls = firstCalls.flatMap((call, index) => [`# ${callTitles[index] ?? ''}`, call, '']);
  const first =
    calls.length === 0 ? [] : ['', 'First calls, at the sandbox of this machine:', '', ...calls.slice(0, -1)];
  return `${[`Praxis ${version}`, about, credentials, '', ...lines, ...first].join('\n')}\n`;
}

/** A self-contained page, without scripts. */
function renderHtml({ version, firstCalls }: FrontPage): string {
  const listed = places.map(({ title, method, path, note, isPage }) => {
    const shown = isPage ? `<a href="${path}">${path}</a>` : `<code>${method} ${path}</code>`;
    return `<dt>${title}</dt>\n<dd>${shown}${note === undefined ? '' : ` ${escapeHtml(note)}`}</dd>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Praxis</title>
<style>
  body { font: 16px/1.6 system-ui, sans-serif; color: #1c2430; background: #f7f8fa; margin: 0; }
  main { max-width: 44rem; margin: 12vh auto 4rem; padding: 0 1.5rem; }
  h1 { font-size: 2.2rem; margin: 0; letter-spacing: -.02em; }
  h2 { font-size: 1.15rem; margin: 2rem 0 0; }
  p.lead { font-size: 1.15rem; color: #465264; margin-top: .3rem; }
  code, pre { background: #e9edf2; border-radius: 4px; font-size: .92em; overflow-wrap: anywhere; }
  code { padding: .1em .35em; }
  pre { padding: .6em .8em; white-space: pre-wrap; user-select: all; }
  dt { font-weight: 600; margin-top: 1rem; }
  dd { margin: .15rem 0 0; }
  footer { color: #77828f; font-size: .85rem; margin-top: 3rem; }
</style>
</head>
<body>
<main>
<h1>Praxis</h1>
<p class="lead">${about}</p>
<p>${escapeHtml(credentials)}</p>
${renderFirstCalls(firstCalls)}<dl>
${listed.join('\n')}
</dl>
<footer>Praxis ${escapeHtml(version)}</footer>
</main>
</body>
</html>
`;
}

function renderFirstCalls(calls: readonly string[]): string {
  if (calls.length === 0) return '';
  const listed = calls.map((call, index) => `<p>${callTitles[index] ?? ''}</p>\n<pre>${escapeHtml(call)}</pre>`);
  return `<h2>First calls</h2>
<p>They work as they are, at the sandbox of this machine. Paste them into a terminal.</p>
${listed.join('\n')}
`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
