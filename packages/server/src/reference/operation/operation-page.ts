/**
 * The page of an operation (docs/decisions/0337): what it takes and answers, as code, and to be tried.
 */
import { buildTagDocumentPath, buildTagPath } from '../addresses.ts';
import { type Html, html } from '../markup/html.ts';
import { renderMarkdown, resolveWebLink } from '../markup/markdown.ts';
import { renderAnswers } from './answer-section.ts';
import { renderBody } from './body-section.ts';
import { type DescribedOperation, placePaths, type References } from './described-operation.ts';
import { renderParameters } from './parameter-table.ts';
import { type Place, renderRequestPanel } from './request-panel.ts';

/** The content of the page. */
export function renderOperation(described: DescribedOperation, references: References, place: Place): Html {
  const { tag, area, operation, place: of } = described;
  const { summary, description, deprecated } = operation;
  const head = html`<p class="crumbs"><a href="/docs">Documentation</a> › <a href="${buildTagPath(tag, area)}">${tag}</a></p><h1>${summary}</h1>${renderLine(described)}${deprecated === true && html`<p class="note">Deprecated: do not use it in new applications.</p>`}${description !== undefined && renderMarkdown(description, resolveWebLink).body}${of !== 'webhook' && html`<p>${nameNeeds(described)}</p>`}`;
  const known = { environment: place.environment, firm: place.firm, product: place.product, realm: place.realm };
  const text = html`${head}${renderParameters(described, references, known)}${renderBody(described, references)}${renderAnswers(described, references)}<p><a href="${buildTagDocumentPath(tag, area)}">OpenAPI document of ${area === 'administration' ? area : tag}</a></p>`;
  if (of === 'webhook') return html`<article class="operation">${text}</article>`;
  return html`<form id="request" class="operation sides" novalidate ${attributesOf(described)}><article>${text}</article>${renderRequestPanel(described, references, place)}</form>`;
}

function nameNeeds({ needsToken, needsApiKey, place }: DescribedOperation): string {
  if (needsToken && place === 'administration') return 'Needs a session or an API token of an administrator.';
  if (needsToken) return 'Needs an access token and the API key that it was got with.';
  return needsApiKey ? 'Needs an API key.' : 'Needs no credentials.';
}

/** Method and path. */
export function renderLine({ method, path, place }: Pick<DescribedOperation, 'method' | 'path' | 'place'>): Html {
  const shown = place === 'webhook' ? 'your endpoint' : path;
  return html`<p class="line"><span class="method ${method.toLowerCase()}">${method}</span> <code>${shown}</code></p>`;
}

/** What the script needs to know of the operation. */
function attributesOf({ method, path, place, needsToken, needsApiKey }: DescribedOperation): Html {
  const template = placePaths[place] + path;
  const token = place === 'administration' ? 'session' : 'token';
  const needs = [needsToken && token, needsApiKey && 'apiKey'].filter((need) => need !== false).join(' ');
  return html`data-method="${method}" data-template="${template}" data-needs="${needs}"`;
}
