/**
 * The name of a schema, with a link to its page where it has one.
 */

import type { Schema } from '../../openapi/openapi.ts';
import { buildSchemaPath } from '../addresses.ts';
import { type Html, html } from '../markup/html.ts';
import type { References } from './described-operation.ts';

/** Whether a schema has a page: structures do, but for parts of others and what is told elsewhere. */
export function hasSchemaPage(name: string, references: References): boolean {
  const schema = references.find<Schema>('schemas', name);
  return schema?.['type'] === 'object' && /^[A-Z]\w*$/.test(name) && name !== 'Resource';
}

/** What a schema stands for, in a few words. */
export function renderSchemaName(schema: Schema, references: References): Html {
  const name = references.nameOf(schema);
  if (name !== undefined) return renderNamed(name, references);
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined;
  if (alternatives !== undefined) {
    return html`${alternatives.map((each, index) => [index > 0 && ' or ', renderSchemaName(each, references)])}`;
  }
  if (schema['type'] === 'array')
    return html`list of ${renderSchemaName((schema['items'] as Schema) ?? {}, references)}`;
  if (typeof schema['title'] === 'string') return html`<code>${schema['title']}</code>`;
  return html`${typeof schema['type'] === 'string' ? schema['type'] : 'content'}`;
}

function renderNamed(name: string, references: References): Html {
  if (hasSchemaPage(name, references)) return html`<a href="${buildSchemaPath(name)}">${name}</a>`;
  if (name.startsWith('in.')) return html`<a href="${buildSchemaPath('Parameters')}">Parameters</a>`;
  return html`${name.startsWith('search.') ? 'search parameters' : name}`;
}
