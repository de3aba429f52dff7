/**
 * The members of a structure that has no page of its own, such as a form or a body of the administration.
 */
import type { Schema } from '../../openapi/openapi.ts';
import { type Html, html } from '../markup/html.ts';
import { renderTable, renderText } from '../markup/markdown.ts';
import type { References } from './described-operation.ts';
import { renderSchemaName } from './schema-name.ts';

/** How deep structures inside structures are listed. */
const depthMax = 4;

interface ObjectSchema {
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** A table for each structure that is written out; empty for one with a page, and for what is no structure. */
export function renderMembers(schema: Schema, references: References): readonly Html[] {
  const alternatives = (schema['oneOf'] as readonly Schema[] | undefined) ?? [schema];
  return alternatives.flatMap((alternative) => {
    const rows = listRows(alternative, references, '');
    if (rows.length === 0) return [];
    const { title } = alternative as ObjectSchema;
    const head = html`<tr><th scope="col">Member</th><th scope="col">Type</th><th scope="col">Meaning</th></tr>`;
    return [html`${title !== undefined && html`<h3>${title}</h3>`}${renderTable(head, rows)}`];
  });
}

function listRows(schema: Schema, references: References, prefix: string, depth = 0): readonly Html[] {
  const { properties = {}, required = [] } = schema as ObjectSchema;
  return Object.entries(properties).flatMap(([name, member]) => {
    const { description, items, const: fixed } = member as { description?: string; items?: Schema; const?: unknown };
    const label = html`<code>${prefix}${name}</code>${required.includes(name) && html` <em class="required">required</em>`}`;
    const meaning = fixed === undefined ? (description ?? '') : `Always \`${String(fixed)}\`. ${description ?? ''}`;
    const row = html`<tr><th scope="row">${label}</th><td>${renderSchemaName(member, references)}</td><td>${renderText(meaning)}</td></tr>`;
    return depth < depthMax ? [row, ...listRows(items ?? member, references, `${prefix}${name}.`, depth + 1)] : [row];
  });
}
