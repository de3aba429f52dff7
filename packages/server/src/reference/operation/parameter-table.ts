/**
 * The parameters of an operation, each with a field for its value.
 */
import type { ParameterObject } from '../../openapi/openapi.ts';
import { type Html, html } from '../markup/html.ts';
import { renderTable, renderText } from '../markup/markdown.ts';
import type { DescribedOperation, References } from './described-operation.ts';
import { listValues, makeExampleParameter } from './example-values.ts';

/** Where the parameters of a group are, in the order of the groups. */
const places = { path: 'Path', query: 'Query', header: 'Headers' } as const;

/** Values that are known before anybody fills them in, by the name of a path parameter. */
export type KnownValues = Readonly<Record<string, string>>;

/** A table for each place that has parameters. */
export function renderParameters(
  { parameters, place }: DescribedOperation,
  references: References,
  known: KnownValues,
): Html {
  const groups = Object.entries(places).flatMap(([where, title]) => {
    const those = parameters.filter((parameter) => parameter.in === where);
    if (those.length === 0) return [];
    const rows = those.map((parameter) => renderRow(parameter, { references, known, hasFields: place !== 'webhook' }));
    return [html`<h3>${title}</h3>${renderTable(renderHead(place !== 'webhook'), rows)}`];
  });
  return groups.length === 0 ? html`` : html`<section><h2 id="parameters">Parameters</h2>${groups}</section>`;
}

function renderHead(hasFields: boolean): Html {
  return html`<tr><th scope="col">Name</th><th scope="col">Meaning</th>${hasFields && html`<th scope="col">Value</th>`}</tr>`;
}

interface RowContext {
  readonly references: References;
  readonly known: KnownValues;
  readonly hasFields: boolean;
}

function renderRow(parameter: ParameterObject, { references, known, hasFields }: RowContext): Html {
  const { name, description, required } = parameter;
  const id = `${parameter.in}-${name.replaceAll(/[^\w-]/g, '')}`;
  const label = html`<code>${name}</code>${required && html` <em class="required">required</em>`}`;
  const meaning = html`${renderText(description)}${renderKind(parameter, references)}`;
  if (!hasFields) return html`<tr><th scope="row">${label}</th><td>${meaning}</td></tr>`;
  const field = renderField(parameter, id, references, known);
  return html`<tr><th scope="row"><label for="${id}">${label}</label></th><td>${meaning}</td><td class="value">${field}</td></tr>`;
}

/** How values of a kind of search parameter are written. */
function renderKind({ schema }: ParameterObject, references: References): Html | undefined {
  const name = references.nameOf(schema);
  if (name?.startsWith('search.') !== true || name.startsWith('search.of.')) return undefined;
  return html` <small>${name.slice('search.'.length)}</small>`;
}

function renderField(parameter: ParameterObject, id: string, references: References, known: KnownValues): Html {
  const { in: place, name, required, style } = parameter;
  const values = listValues(parameter, references);
  const needs = required && html` required`;
  const kind = style === 'form' ? 'criteria' : place;
  const attributes = html`id="${id}" name="${name}" data-in="${kind}"${needs}`;
  if (values.length > 0) {
    const chosen = known[name];
    const options = values.map((value) => html`<option${value === chosen && html` selected`}>${value}</option>`);
    return html`<select ${attributes}>${required ? undefined : html`<option value=""></option>`}${options}</select>`;
  }
  const value = place === 'path' ? known[name] : undefined;
  const hint = style === 'form' ? 'identifier=…' : makeExampleParameter(parameter, references);
  return html`<input ${attributes}${value !== undefined && html` value="${value}"`}${hint !== '' && html` placeholder="${hint}"`} autocomplete="off" spellcheck="false">`;
}
