/**
 * The body of a request, with a field for it.
 */
import { type Html, html } from '../markup/html.ts';
import { renderText } from '../markup/markdown.ts';
import type { DescribedOperation, References } from './described-operation.ts';
import { type ExampleBody, makeExampleBody } from './example-values.ts';
import { renderMembers } from './member-table.ts';
import { renderSchemaName } from './schema-name.ts';

/** Media types that are named before the others are counted. */
const shownMax = 6;

/** What is sent, and where it is written; empty for an operation without a body. */
export function renderBody({ body, place }: DescribedOperation, references: References): Html {
  if (body === undefined) return html``;
  const types = Object.keys(body.content);
  const [first = ''] = types;
  const schema = body.content[first]?.schema ?? {};
  const example = makeExampleBody(body, references);
  const more = types.length - shownMax;
  const named = types.slice(0, shownMax).map((type, index) => html`${index > 0 && ', '}<code>${type}</code>`);
  return html`<section><h2 id="body">Body</h2><p>${renderSchemaName(schema, references)}${body.required === true ? ', required' : ', optional'}. As ${named}${more > 0 && ` and ${more} more`}.</p>${body.description !== undefined && html`<p>${renderText(body.description)}</p>`}${renderMembers(schema, references)}${place === 'webhook' ? renderExample(example) : renderFields(example, types)}</section>`;
}

function renderExample(example: ExampleBody | undefined): Html | undefined {
  return example && html`<pre tabindex="0"><code>${example.text}</code></pre>`;
}

/** A field for text; files are sent by programs. */
function renderFields(example: ExampleBody | undefined, types: readonly string[]): Html {
  if (example === undefined) return html`<p>Send it with a program: the samples show how.</p>`;
  const rows = Math.min(24, Math.max(3, example.text.split('\n').length));
  const written = types.filter((type) => type !== '*/*');
  const options = written.map((type) => html`<option${type === example.mediaType && html` selected`}>${type}</option>`);
  return html`<p><label for="content-type">Content-Type</label> <select id="content-type" data-in="content-type">${options}</select></p><label for="body-text" class="unseen">Text of the body</label><textarea id="body-text" data-in="body" rows="${rows}" spellcheck="false">${`\n${example.text}`}</textarea>`;
}
