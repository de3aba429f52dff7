/**
 * The page of a structure: a resource type, a datatype or a body that is no resource, with all of its elements.
 */
import type { Schema } from '../openapi/openapi.ts';
import { type Html, html } from './markup/html.ts';
import { renderTable } from './markup/markdown.ts';
import type { References } from './operation/described-operation.ts';
import { hasSchemaPage, renderSchemaName } from './operation/schema-name.ts';

/** Codes of an element that are listed; of more there is the value set. */
const codesMax = 60;

/** The content of the page; undefined for a name that has none. */
export function renderSchema(name: string, references: References): Html | undefined {
  const schema = references.find<Schema>('schemas', name);
  if (schema === undefined || !hasSchemaPage(name, references)) return undefined;
  const { externalDocs, description } = schema as { externalDocs?: { url: string }; description?: string };
  const rows = listElements(schema, { references, prefix: '', within: [name] });
  const head = html`<tr><th scope="col">Element</th><th scope="col">Times</th><th scope="col">Type</th></tr>`;
  return html`<article><p class="crumbs"><a href="/docs">Documentation</a> › Structures</p><h1>${name}</h1>${description !== undefined && html`<p>${description}</p>`}${externalDocs !== undefined && html`<p><a href="${externalDocs.url}" rel="noreferrer">${name} in FHIR R4</a></p>`}${renderTable(head, rows)}</article>`;
}

interface Level {
  readonly references: References;
  /** Of the names of elements: `contact.`. */
  readonly prefix: string;
  /** Schemas that these elements are inside of, so that one that holds itself ends. */
  readonly within: readonly string[];
}

/** The elements of a structure and, below each, those of its parts. */
function listElements(schema: Schema, level: Level): readonly Html[] {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Schema>; required?: string[] };
  return Object.entries(properties).flatMap(([name, given]) => {
    const isList = given['type'] === 'array';
    const value = isList ? ((given['items'] as Schema | undefined) ?? {}) : given;
    const times = `${required.includes(name) ? 1 : 0}..${isList ? '*' : 1}`;
    const row = html`<tr><th scope="row"><code>${level.prefix}${name}</code></th><td>${times}</td><td>${renderType(value, level.references)}</td></tr>`;
    return [row, ...listParts(value, name, level)];
  });
}

/** The elements of a part that has no page of its own: `Patient.contact`. */
function listParts(value: Schema, name: string, { references, prefix, within }: Level): readonly Html[] {
  const part = references.nameOf(value);
  if (part === undefined || within.includes(part) || hasSchemaPage(part, references)) return [];
  const schema = references.find<Schema>('schemas', part);
  return schema?.['type'] === 'object' && part !== 'Resource'
    ? listElements(schema, { references, prefix: `${prefix}${name}.`, within: [...within, part] })
    : [];
}

function renderType(value: Schema, references: References): Html {
  const { enum: codes, const: fixed } = references.resolve<Schema>(value) as { enum?: unknown[]; const?: unknown };
  if (fixed !== undefined) return html`<code>${String(fixed)}</code>`;
  const name = references.nameOf(value);
  if (name === 'Resource') return html`any resource`;
  if (codes !== undefined && codes.length <= codesMax) return html`code: ${codes.join(', ')}`;
  if (name?.includes('.') === true) return html`part`;
  const targets = name === 'Reference' && typeof value['description'] === 'string' ? ` to ${value['description']}` : '';
  return html`${renderSchemaName(value, references)}${targets}`;
}
