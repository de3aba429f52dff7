/**
 * The side of a page from which a request is sent: where to, with which credentials, as which code, and the answer.
 * The page's script (browser/page.js) fills it with life; without it the samples stand as they are.
 */
import { type Html, html } from '../markup/html.ts';
import { renderTabs } from '../markup/tabs.ts';
import { type DescribedOperation, placePaths, type References } from './described-operation.ts';
import { makeExampleBody } from './example-values.ts';
import { buildSamples, type SampleRequest } from './samples.ts';

/** Where requests go to unless something else is filled in. */
export interface Place {
  /** Of the samples, until the script knows the page's own. */
  readonly origin: string;
  readonly environment: string;
  /** '' where no firm may be named. */
  readonly firm: string;
  readonly product: string;
  readonly realm: string;
  /** Whether these are values of a sandbox, which work as they stand. */
  readonly isSandbox: boolean;
}

/** Samples, and the button that sends the request. */
export function renderRequestPanel(described: DescribedOperation, references: References, place: Place): Html {
  const samples = buildSamples(sampleOf(described, references, place));
  const panels = [
    { label: 'curl', body: sampleBlock('curl', samples.curl) },
    { label: 'TypeScript', body: sampleBlock('typescript', samples.typescript) },
    { label: 'Python', body: sampleBlock('python', samples.python) },
  ];
  return html`<aside class="panel-side" aria-label="Request">${renderCredentials(described, place)}${renderTabs('sample', panels)}<p class="send"><button type="submit" disabled>Send</button> <button type="button" id="cancel" hidden>Cancel</button> <span id="state" role="status"></span></p><section id="answer" aria-label="Answer" hidden><p id="answer-line"></p><details><summary>Headers</summary><pre tabindex="0"><code id="answer-headers"></code></pre></details><pre tabindex="0"><code id="answer-body"></code></pre></section></aside>`;
}

function sampleBlock(name: string, text: string): Html {
  return html`<pre tabindex="0"><code data-sample="${name}">${text}</code></pre>`;
}

/** The request as it stands before anything is filled in. */
function sampleOf(described: DescribedOperation, references: References, place: Place): SampleRequest {
  const { method, path, needsToken, needsApiKey } = described;
  const body = makeExampleBody(described.body, references);
  const known: Readonly<Record<string, string>> = { ...place, isSandbox: '' };
  const template = placePaths[described.place] + path;
  const filled = template.replaceAll(/\{(\w+)\}/g, (part, name: string) => known[name] || part);
  return {
    method,
    url: place.origin + filled,
    headers: body === undefined ? {} : { 'Content-Type': body.mediaType },
    needsToken,
    needsApiKey,
    body: body?.text,
  };
}

interface FieldText {
  readonly label: string;
  readonly value?: string;
  readonly isSecret?: true;
}

/** Fields for where the request goes and for credentials, closed until they are wanted. */
function renderCredentials({ place: of, needsToken, needsApiKey }: DescribedOperation, place: Place): Html {
  const fields: Readonly<Record<string, FieldText>> = {
    ...(of === 'firm'
      ? {
          environment: { label: 'Environment', value: place.environment },
          firm: { label: 'Firm', value: place.firm },
          product: { label: 'Product', value: place.product },
        }
      : {}),
    ...(needsApiKey ? { apiKey: { label: 'API key', isSecret: true as const } } : {}),
    ...(needsToken ? tokenField(of) : {}),
  };
  if (Object.keys(fields).length === 0) return html``;
  const getsToken = needsToken && of !== 'administration';
  const hint =
    place.isSandbox &&
    (needsToken || needsApiKey) &&
    html`<p class="hint">The credentials of the sandbox are in <code>sandbox.json</code> of its data directory.</p>`;
  return html`<details id="credentials" open><summary>Where and who</summary><div class="fields">${renderFields(fields)}</div>${getsToken && renderTokenForm(place)}${hint}<p><button type="button" id="forget">Forget credentials</button> <small>They stay in this tab until it is closed.</small></p></details>`;
}

/** Administrators have sessions and tokens of their own. */
function tokenField(place: DescribedOperation['place']): Readonly<Record<string, FieldText>> {
  return place === 'administration'
    ? { session: { label: 'Session or API token', isSecret: true } }
    : { token: { label: 'Access token', isSecret: true } };
}

function renderTokenForm(place: Place): Html {
  const fields = {
    realm: { label: 'Realm', value: place.realm },
    clientId: { label: 'Client id' },
    clientSecret: { label: 'Client secret', isSecret: true as const },
  };
  return html`<fieldset class="token"><legend>Get a token</legend><div class="fields">${renderFields(fields)}</div><p><button type="button" id="get-token">Get a token</button> <span id="token-state" role="status"></span></p></fieldset>`;
}

function renderFields(fields: Readonly<Record<string, FieldText>>): readonly Html[] {
  return Object.entries(fields).map(([name, { label, value = '', isSecret }]) => {
    const type = isSecret === true ? 'password' : 'text';
    return html`<label for="credential-${name}">${label}</label><input type="${type}" id="credential-${name}" data-credential="${name}" value="${value}" autocomplete="off" spellcheck="false">`;
  });
}
