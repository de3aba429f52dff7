/** The appointments of a series as far as the caller may change them (docs/decisions/0201). */

import type { Appointment, BudgetedWork } from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import { listGrantingEntries } from '../../access/explain.ts';
import { compileWritable } from '../../access/mask.ts';
import { fail } from '../../base/errors.ts';
import type { FhirRequest, InteractionContext } from '../../engine/context.ts';
import { requireMatch } from '../../engine/preconditions.ts';
import { refuseDeleted } from '../../engine/read/read.ts';
import { refuse, refuseNotFound } from '../../engine/rights/denials.ts';
import { compileCriterionTest } from '../../engine/rights/disclosing.ts';
import { compileReadable } from '../../engine/rights/readable-members.ts';
import { requireTouchable } from '../../engine/rights/write-rights.ts';
import { buildSearchRights } from '../../engine/search/searching.ts';
import { selectPage } from '../../engine/search/select-page.ts';
import { makeTooCostlyError } from '../../limits/budgets.ts';
import { parseSearch } from '../../search/query/query.ts';
import { pageBytesMax } from '../../search/sql/page-bytes.ts';
import { requireType, type StoredResource } from '../../storage/store.ts';
import { findSeriesPlace, type SeriesPlace, seriesSystem } from './series.ts';

/** Appointments of one series that are looked at: more than $book makes. */
const membersMax = 200;

/** What decides which appointments of a series are meant, and is told by it: who asks has to be able to read it. */
const decisive = ['identifier', 'start', 'status'];

export interface SeriesMember {
  readonly id: string;
  readonly appointment: Appointment;
  readonly place: SeriesPlace;
}

/**
 * The appointment that a request names, after all that is asked of a PATCH of its members `touched`.
 * @throws PraxisError `rule-broken` for one that is part of no series, `access-denied`, `resource-not-found`,
 *   `resource-deleted`, `precondition-failed`
 */
export async function requireSeriesMember(
  context: InteractionContext,
  { id, ifMatch }: Pick<FhirRequest, 'id' | 'ifMatch'>,
  touched: readonly string[],
): Promise<SeriesMember> {
  const row = await context.store.read(context.scope, 'Appointment', id);
  if (row === undefined) return refuseNotFound('Appointment', id);
  if (row.deleted) return refuseDeleted(context, row);
  const covered = compileCriterionTest(context, 'Appointment', row.content);
  requireTouchable(context, { type: 'Appointment', id }, covered, touched);
  if (!decisive.every(compileReadable(context.policy, 'Appointment', covered))) {
    const what = `Asking for a series without reading Appointment.${decisive.join(', Appointment.')}`;
    refuse(context, what, listGrantingEntries(context.policy, 'Appointment', 'r'));
  }
  requireMatch(ifMatch, row.versionId);
  return (
    memberOf(context, row) ??
    fail('rule-broken', {
      diagnostics: `Appointment/${id} is part of no series: leave scope out`,
      expression: ['scope'],
    })
  );
}

const readingSeries: BudgetedWork = {
  what: 'Reading the appointments of the series',
  cheaper: 'change them one by one, or keep notes and attachments out of them',
};

/**
 * Those that live and that the caller may change, by their places in the series.
 * @throws PraxisError `too-costly` where the appointments take more than a page may
 */
export async function listSeriesMembers(context: InteractionContext, series: string): Promise<readonly SeriesMember[]> {
  const { scope, baseUrl, clock, limits, secrets, store } = context;
  const query = parseSearch('Appointment', [['identifier', `${seriesSystem}|${escaped(series)}`]], {
    timeZone: scope.timeZone,
    baseUrl,
    nowMs: clock.now(),
    limits,
    searchParameters: [],
    rights: buildSearchRights(context), // of links to other types: there is none
  });
  const cursor = { secrets, policyFingerprint: '' };
  const target = { scope, query: { ...query, count: membersMax }, mandatory: [[]], cursor };
  const { rows, leftOut } = await selectPage({ store, scope }, target);
  if (leftOut !== undefined) throw makeTooCostlyError({ ...readingSeries, limit: 'bytes', max: pageBytesMax });
  return rows
    .flatMap((row) => memberOf(context, requireType(row, 'Appointment')) ?? [])
    .filter(({ place }) => place.series === series)
    .toSorted((one, other) => one.place.startMs - other.place.startMs || (one.id < other.id ? -1 : 1));
}

/** undefined: not part of a series, or not one that the caller may change, which is as if it did not exist. */
function memberOf(context: InteractionContext, row: StoredResource<'Appointment'>): SeriesMember | undefined {
  const covered = compileCriterionTest(context, 'Appointment', row.content);
  if (compileWritable(context.policy, 'u', 'Appointment', covered) === undefined) return undefined;
  if (!decisive.every(compileReadable(context.policy, 'Appointment', covered))) return undefined;
  const appointment = parseStored(row.content);
  const place = findSeriesPlace(appointment);
  return place && { id: row.id, appointment, place };
}

/** https://hl7.org/fhir/R4/search.html#escaping */
function escaped(value: string): string {
  return value.replaceAll(/[\\$,|]/g, String.raw`\$&`);
}
