/**
 * $everything: the record of a patient or an encounter
 * (https://hl7.org/fhir/R4/patient-operation-everything.html, https://hl7.org/fhir/R4/encounter-operation-everything.html).
 * What it returns and in which pages: docs/decisions/0096.
 */

import { toInstant } from '../../base/clock.ts';
import { makeUuid } from '../../base/ids.ts';
import { buildGetRequest } from '../../base/worst-case.ts';
import { type BundleLink, buildBundleText } from '../../engine/bundle-text.ts';
import type { FhirResponse, InteractionContext } from '../../engine/context.ts';
import { refuseNotFound, requireGrants } from '../../engine/rights/denials.ts';
import { discloseRows, type ShownRow } from '../../engine/rights/disclosing.ts';
import { encodeQuery } from '../../engine/search/search-links.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from '../operation.ts';
import { buildResourceResponse } from '../result.ts';
import { type EverythingParameters, encodeEverythingParameters, readEverythingParameters } from './parameters.ts';
import { openEverythingPosition, type Position, sealEverythingPosition } from './position.ts';
import { findSupportingRows } from './supporting.ts';
import { findFirstPosition, type WalkedPage, walk } from './walk.ts';
import { readWholeRecord } from './whole-record.ts';

const dates = [
  declareInput('start', 'date', 'Care on this date or after it.'),
  declareInput('end', 'date', 'Care on this date or before it.'),
];

const parameters = [
  declareInput('_since', 'instant', 'Only resources that changed after this time.'),
  declareInput('_type', 'code', 'Types to return, separated by commas.', { max: '*' }),
  declareInput('_count', 'integer', 'Matches per page.'),
  declareInput('_cursor', 'string', 'The value from a link next.'),
  declareOutput('return', 'Bundle', 'A searchset.'),
];

export const patientEverything: Operation = {
  name: 'everything',
  url: 'http://hl7.org/fhir/OperationDefinition/Patient-everything',
  worstCase: {
    because: 'the records of all patients',
    request: () => buildGetRequest('Patient/$everything?_count=1000'),
  },
  rateUnits: 9,
  levels: ['type', 'instance'],
  types: ['Patient'],
  affectsState: false,
  parameters: [...dates, ...parameters],
  authorize: (context) => requireGrants(context, 'Patient', 's'),
  answer,
};

export const encounterEverything: Operation = {
  name: 'everything',
  url: 'http://hl7.org/fhir/OperationDefinition/Encounter-everything',
  worstCase: {
    because: 'a visit with all that refers to it',
    request: ({ encounter }) => buildGetRequest(`Encounter/${encounter}/$everything?_count=1000`),
  },
  rateUnits: 9,
  levels: ['instance'],
  types: ['Encounter'],
  affectsState: false,
  parameters,
  authorize: (context) => requireGrants(context, 'Encounter', 's'),
  answer,
};

/**
 * A searchset: what is in the compartment as matches, what that refers to as includes.
 * @throws PraxisError `resource-not-found` (also for what the caller may not see), `cursor-invalid`,
 *   `operation-parameter-invalid`
 */
async function answer(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const asked = readEverythingParameters(request);
  const page = await readPage(context, asked);
  const rows = page.rows.map(({ row }) => row);
  const matches = await discloseRows(context, 's', rows, {});
  const compartments = [...new Set(page.rows.map(({ of }) => of))];
  const supporting = await findSupportingRows(context, asked, matches, compartments);
  const isWhole = asked.cursor === undefined && page.next === undefined;
  const body = buildBundleText({
    type: 'searchset',
    id: makeUuid(),
    lastUpdated: toInstant(context.clock.now()),
    ...(isWhole ? { total: matches.length } : {}),
    links: linksOf(context, asked, page.next),
    entries: [
      ...matches.map((shown) => entryOf(context, shown, 'match')),
      ...supporting.map((shown) => entryOf(context, shown, 'include')),
    ],
  });
  return buildResourceResponse(body);
}

async function readPage(context: InteractionContext, asked: EverythingParameters): Promise<WalkedPage> {
  const whole = await readWholeRecord(context, asked);
  if (whole !== undefined) return { rows: whole.map((row) => ({ row, of: asked.id })), next: undefined };
  const first = await findFirstPosition(context, asked);
  if (first === undefined && asked.id !== '') return refuseNotFound(asked.type, asked.id);
  const position = asked.cursor === undefined ? first : openEverythingPosition(context, asked, asked.cursor);
  return position === undefined ? { rows: [], next: undefined } : await walk(context, asked, position);
}

function entryOf(context: InteractionContext, { row, resource }: ShownRow, mode: 'match' | 'include') {
  return { fullUrl: `${context.baseUrl}/${row.type}/${row.id}`, resource, search: { mode } };
}

function linksOf(context: InteractionContext, asked: EverythingParameters, next: Position | undefined): BundleLink[] {
  const path = asked.id === '' ? asked.type : `${asked.type}/${asked.id}`;
  const linkTo = (cursor: string | undefined): string => {
    const all = [...encodeEverythingParameters(asked), ...(cursor === undefined ? [] : [['_cursor', cursor] as const])];
    return `${context.baseUrl}/${path}/$everything?${encodeQuery(all)}`;
  };
  const self: BundleLink = { relation: 'self', url: linkTo(asked.cursor) };
  return next === undefined
    ? [self]
    : [self, { relation: 'next', url: linkTo(sealEverythingPosition(context, asked, next)) }];
}
