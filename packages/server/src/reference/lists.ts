/**
 * Pages that lead to others: the front page, the operations of a tag, a guide with its operations.
 */
import type { OpenApiDocument } from '../openapi/document.ts';
import {
  type Area,
  buildGuideDocumentPath,
  buildGuidePath,
  buildOperationPath,
  buildSchemaPath,
  buildTagDocumentPath,
  buildTagPath,
} from './addresses.ts';
import type { Guide, RenderedGuide } from './guides.ts';
import { type Html, html } from './markup/html.ts';
import { renderTable } from './markup/markdown.ts';
import type { DescribedOperation } from './operation/described-operation.ts';

type Tags = OpenApiDocument['tags'];

/** The front page: guides, groups of operations, types, and the groups of the administration. */
export function renderHome(guides: readonly Guide[], tags: Tags, administration: Tags): Html {
  const general = tags.filter(({ description }) => description !== undefined);
  const types = tags.filter(({ description }) => description === undefined);
  const guideRows = guides.map(
    ({ name, title, question }) =>
      html`<li><a href="${buildGuidePath(name)}">${title}</a><br><small>${question}</small></li>`,
  );
  const groups = general.map(
    ({ name, description }) =>
      html`<li><a href="${buildTagPath(name)}">${name}</a><br><small>${description}</small></li>`,
  );
  return html`<h1>Praxis documentation</h1><p>A practice-management FHIR R4 API that applications use on behalf of medical practices.</p>${guides.length > 0 && html`<h2 id="guides">Guides</h2><ul class="cards">${guideRows}</ul>`}<h2 id="reference">Reference</h2><ul class="cards">${groups}</ul><h3>Resource types</h3>${renderColumns(types, 'reference')}<h2 id="administration">Administration</h2><p>Firms, applications, credentials and authorisations.</p>${renderColumns(administration, 'administration')}`;
}

function renderColumns(tags: Tags, area: Area): Html {
  const listed = tags.map(({ name }) => html`<li><a href="${buildTagPath(name, area)}">${name}</a></li>`);
  return html`<ul class="columns">${listed}</ul>`;
}

/** The operations of a tag. */
export function renderTag(tag: Tags[number], area: Area, operations: readonly DescribedOperation[]): Html {
  const { name, description } = tag;
  const isType = area === 'reference' && description === undefined;
  const document = html`<a href="${buildTagDocumentPath(name, area)}">OpenAPI document of ${area === 'administration' ? area : name}</a>`;
  const schema = isType && html`<a href="${buildSchemaPath(name)}">Elements of ${name}</a> · `;
  return html`<p class="crumbs"><a href="/docs">Documentation</a> › ${area === 'administration' ? 'Administration' : 'Reference'}</p><h1>${name}</h1>${description !== undefined && html`<p>${description}</p>`}<p>${schema}${document}</p>${renderOperations(operations)}`;
}

/** A guide, and below it its operations. */
export function renderGuidePage({ name, body }: RenderedGuide, operations: readonly DescribedOperation[]): Html {
  const own =
    operations.length > 0 &&
    html`<section><h2 id="operations-of-this-guide">Operations of this guide</h2><p>As an <a href="${buildGuideDocumentPath(name)}">OpenAPI document</a>.</p>${renderOperations(operations)}</section>`;
  return html`<article class="guide"><p class="crumbs"><a href="/docs">Documentation</a> › Guides</p>${body}${own}</article>`;
}

function renderOperations(operations: readonly DescribedOperation[]): Html {
  const rows = operations.map(({ tag, area, method, path, operation: { operationId, summary } }) => {
    const link = html`<a href="${buildOperationPath(tag, operationId, area)}">${summary}</a>`;
    return html`<tr><td>${link}</td><td><span class="method ${method.toLowerCase()}">${method}</span></td><td><code>${path}</code></td></tr>`;
  });
  const head = html`<tr><th scope="col">Operation</th><th scope="col">Method</th><th scope="col">Path</th></tr>`;
  return renderTable(head, rows);
}
