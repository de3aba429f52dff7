/**
 * Guards of what one request leaves for another: page links, places in the change feed, keys of requests.
 */
import type * as mask from '../../../src/access/mask.ts';
import type { AccessPolicy } from '../../../src/access/policy.ts';
import type { InteractionContext } from '../../../src/engine/context.ts';
import type * as systemCursors from '../../../src/engine/search/search-system-cursor.ts';
import type * as once from '../../../src/engine/write/idempotency.ts';
import type * as followers from '../../../src/operations/changes/cursor.ts';
import type { EverythingParameters } from '../../../src/operations/everything/parameters.ts';
import type * as positions from '../../../src/operations/everything/position.ts';
import type { operations } from '../../../src/practice/features.ts';
import type * as cursors from '../../../src/search/sql/cursor.ts';
import { asPlanter, fields, type Guard, notesPlanters, type Off, orders } from './guard.ts';

/** The same for all callers, firms and rights. */
function unbound(context: InteractionContext): InteractionContext {
  const policy: AccessPolicy = { ...context.policy, fingerprint: '' };
  return { ...context, policy, scope: { ...context.scope, firm: 0, application: 0 } };
}

const anything: EverythingParameters = {
  type: '',
  id: '',
  since: undefined,
  start: undefined,
  end: undefined,
  types: undefined,
  count: 1,
  cursor: undefined,
};

function unboundCursor({ nowMs }: cursors.CursorBinding): cursors.CursorBinding {
  return { firm: 0, application: 0, policyFingerprint: '', canonical: '', nowMs };
}

export const pagingGuards: readonly Guard[] = [
  {
    name: 'cursors bound to caller and search',
    at: fields('value'),
    by: ['names'],
    ways: ['graft'],
    plantsAnew: true,
    replaced: [
      {
        file: 'search/sql/cursor.ts',
        name: 'sealCursor',
        replace:
          (original: typeof cursors.sealCursor, isOff: Off): typeof cursors.sealCursor =>
          (secrets, cursor, binding) =>
            original(secrets, cursor, isOff() ? unboundCursor(binding) : binding),
      },
      {
        file: 'search/sql/cursor.ts',
        name: 'openCursor',
        replace:
          (original: typeof cursors.openCursor, isOff: Off): typeof cursors.openCursor =>
          (secrets, text, binding) =>
            original(secrets, text, isOff() ? unboundCursor(binding) : binding),
      },
    ],
  },
  {
    name: 'cursors of searches over several types',
    at: fields('value'),
    by: ['names'],
    ways: ['graft'],
    plantsAnew: true,
    replaced: [
      {
        file: 'engine/search/search-system-cursor.ts',
        name: 'sealSystemPosition',
        replace:
          (original: typeof systemCursors.sealSystemPosition, isOff: Off): typeof systemCursors.sealSystemPosition =>
          (context, targets, ...position) =>
            isOff() ? original(unbound(context), [], ...position) : original(context, targets, ...position),
      },
      {
        file: 'engine/search/search-system-cursor.ts',
        name: 'openSystemPosition',
        replace:
          (original: typeof systemCursors.openSystemPosition, isOff: Off): typeof systemCursors.openSystemPosition =>
          (context, targets, ...cursor) =>
            isOff() ? original(unbound(context), [], ...cursor) : original(context, targets, ...cursor),
      },
    ],
  },
  {
    name: 'cursors of $everything',
    at: fields('existence'),
    by: ['names'],
    ways: ['graft', 'replay'],
    plantsAnew: true,
    replaced: [
      {
        file: 'operations/everything/position.ts',
        name: 'sealEverythingPosition',
        replace:
          (original: typeof positions.sealEverythingPosition, isOff: Off): typeof positions.sealEverythingPosition =>
          (context, asked, position) =>
            isOff() ? original(unbound(context), anything, position) : original(context, asked, position),
      },
      {
        file: 'operations/everything/position.ts',
        name: 'openEverythingPosition',
        replace:
          (original: typeof positions.openEverythingPosition, isOff: Off): typeof positions.openEverythingPosition =>
          (context, asked, cursor) =>
            isOff() ? original(unbound(context), anything, cursor) : original(context, asked, cursor),
      },
    ],
  },
  {
    name: 'places in the change feed bound to caller and rights',
    at: fields('existence'),
    by: ['names'],
    ways: ['graft', 'replay'],
    plantsAnew: true,
    replaced: [
      {
        file: 'operations/changes/cursor.ts',
        name: 'sealFollower',
        replace:
          (original: typeof followers.sealFollower, isOff: Off): typeof followers.sealFollower =>
          (context, types, place) =>
            isOff() ? original(unbound(context), undefined, place) : original(context, types, place),
      },
      {
        file: 'operations/changes/cursor.ts',
        name: 'openFollower',
        replace:
          (original: typeof followers.openFollower, isOff: Off): typeof followers.openFollower =>
          (context, types, cursor) =>
            isOff() ? original(unbound(context), undefined, cursor) : original(context, types, cursor),
      },
    ],
  },
  {
    name: 'rows before and after a change, in the change feed',
    at: orders('deletion'),
    by: ['coded'],
    ways: ['operation $changes'],
    replaced: [
      {
        file: 'access/mask.ts',
        name: 'coversRow',
        importers: ['operations/changes/entries.ts'],
        replace:
          (original: typeof mask.coversRow, isOff: Off): typeof mask.coversRow =>
          (...asked) =>
            isOff() || original(...asked),
      },
    ],
  },
  {
    name: 'keys of other applications, asked about',
    at: fields('value'),
    by: ['names'],
    ways: ['operation $write-outcome'],
    replaced: [
      notesPlanters,
      {
        file: 'practice/features.ts',
        name: 'operations',
        importers: ['practice/register.ts'],
        replace: (original: typeof operations, isOff: Off): typeof operations =>
          original.map((operation) => ({
            ...operation,
            answer: (context, request) =>
              operation.answer(isOff() ? { ...context, scope: asPlanter(context.scope) } : context, request),
          })),
      },
    ],
  },
  {
    name: 'keys of other applications, used again',
    at: fields('value'),
    by: ['writer'],
    ways: ['with a key'],
    replaced: [
      notesPlanters,
      {
        file: 'engine/write/idempotency.ts',
        name: 'withIdempotency',
        importers: ['engine/dispatch.ts'],
        replace:
          (original: typeof once.withIdempotency, isOff: Off): typeof once.withIdempotency =>
          (context, request, work) => {
            if (!isOff()) return original(context, request, work);
            const { scope } = context;
            return original({ ...context, scope: asPlanter(scope) }, request, (inside) => work({ ...inside, scope }));
          },
      },
    ],
  },
];
