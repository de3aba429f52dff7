/**
 * What an operation answers: success first, then the refusals by status.
 */
import type { Answer } from '../../openapi/openapi.ts';
import { type Html, html } from '../markup/html.ts';
import { renderMarkdown, renderText, resolveWebLink } from '../markup/markdown.ts';
import type { DescribedOperation, References } from './described-operation.ts';
import { layOutJson } from './example-values.ts';
import { renderMembers } from './member-table.ts';
import { renderSchemaName } from './schema-name.ts';

/** Longest example of an answer that is shown, in characters. */
const exampleMax = 4_000;

type AnswerRow = readonly [status: string, answer: Answer];

/** The answers by status. */
export function renderAnswers({ answers }: DescribedOperation, references: References): Html {
  const isGood = ([status]: AnswerRow): boolean => /^[23]/.test(status);
  const shown = new Set<string>();
  const good = answers.filter(isGood).map((row) => renderSuccess(row, references, shown));
  const refused = answers.filter((row) => !isGood(row)).map(renderRefusal);
  return html`<section><h2 id="answers">Answers</h2>${good}${refused.length > 0 && html`<h3>Refusals</h3>${refused}`}</section>`;
}

/** @param shown examples of the answers before: none is repeated */
function renderSuccess([status, answer]: AnswerRow, references: References, shown: Set<string>): Html {
  const { description, content = {}, headers = {} } = answer;
  const [media] = Object.values(content);
  const types = Object.keys(content).map((type, index) => html`${index > 0 && ', '}<code>${type}</code>`);
  const names = Object.keys(headers).map((name, index) => html`${index > 0 && ', '}<code>${name}</code>`);
  const [example] = media === undefined ? [] : references.examplesOf(media);
  const text = example === undefined ? '' : layOutJson(example.value);
  const isNew = text !== '' && text.length <= exampleMax && !shown.has(text);
  shown.add(text);
  return html`<article class="answer"><h3><span class="status good">${status}</span> ${media === undefined ? 'No content' : renderSchemaName(media.schema, references)}</h3><p>${renderText(description)}</p>${types.length > 0 && html`<p>As ${types}.</p>`}${names.length > 0 && html`<p>Headers: ${names}.</p>`}${media !== undefined && renderMembers(media.schema, references)}${isNew && html`<details><summary>Example</summary><pre tabindex="0"><code>${text}</code></pre></details>`}</article>`;
}

function renderRefusal([status, { description }]: AnswerRow): Html {
  const { body } = renderMarkdown(description, resolveWebLink);
  return html`<details class="answer"><summary><span class="status">${status}</span></summary>${body}</details>`;
}
