/**
 * Guards inside operations and writes, behind the check that lets a caller in.
 */
import type * as mask from '../../../src/access/mask.ts';
import type * as policies from '../../../src/access/policy.ts';
import type * as wholes from '../../../src/engine/rights/whole-resource.ts';
import type * as conditional from '../../../src/engine/write/conditional.ts';
import type * as narratives from '../../../src/engine/write/patched-narrative.ts';
import type * as canonicals from '../../../src/operations/firm-canonicals.ts';
import type * as labels from '../../../src/search/index/labels.ts';
import { at, fields, type Guard, grantsOfAll, type Off, orders, wholeGrants } from './guard.ts';

/** The searches of one part of a transaction. */
function matching(name: string, importer: string): Guard {
  return {
    name,
    at: fields('value'),
    by: ['writer'],
    ways: ['bundle transaction'],
    replaced: [
      {
        file: 'engine/write/conditional.ts',
        name: 'findMatches',
        importers: [importer],
        replace:
          (original: typeof conditional.findMatches, isOff: Off): typeof conditional.findMatches =>
          (context, ...asked) =>
            original(isOff() ? { ...context, policy: wholeGrants(context.policy) } : context, ...asked),
      },
    ],
  };
}

export const operationGuards: readonly Guard[] = [
  {
    name: 'labels in use',
    at: orders('tag'),
    by: ['coded'],
    ways: ['operation $meta'],
    replaced: [
      {
        file: 'search/index/labels.ts',
        name: 'planLabels',
        replace:
          (original: typeof labels.planLabels, isOff: Off): typeof labels.planLabels =>
          (scope, type, mandatory, labelsMax) =>
            original(scope, type, isOff() ? [[]] : mandatory, labelsMax),
      },
    ],
  },
  {
    name: 'profiles that $validate looks up',
    at: fields('existence'),
    by: ['names'],
    ways: ['operation $validate'],
    replaced: [
      {
        file: 'operations/firm-canonicals.ts',
        name: 'findCanonical',
        replace:
          (original: typeof canonicals.findCanonical, isOff: Off): typeof canonicals.findCanonical =>
          (context, ...asked) =>
            original(isOff() ? { ...context, policy: grantsOfAll(context.policy) } : context, ...asked),
      },
    ],
  },
  {
    name: 'stored resources that $validate judges',
    at: orders('existence'),
    by: ['coded'],
    ways: ['operation $validate'],
    replaced: [
      {
        file: 'engine/rights/whole-resource.ts',
        name: 'readWhole',
        replace:
          (original: typeof wholes.readWhole, isOff: Off): typeof wholes.readWhole =>
          (context, ...asked) =>
            original(isOff() ? { ...context, policy: wholeGrants(context.policy) } : context, ...asked),
      },
    ],
  },
  {
    name: 'rows whose update $validate judges',
    at: at('tasks', 'existence'),
    by: ['scoped'],
    ways: ['operation $validate'],
    replaced: [
      {
        file: 'access/mask.ts',
        name: 'coversRow',
        importers: ['operations/validate-modes.ts'],
        replace:
          (original: typeof mask.coversRow, isOff: Off): typeof mask.coversRow =>
          (...asked) =>
            isOff() || original(...asked),
      },
    ],
  },
  {
    name: 'narratives of patched resources',
    at: fields('value'),
    by: ['writer'],
    ways: ['patch'],
    replaced: [
      {
        file: 'engine/write/patched-narrative.ts',
        name: 'withSafeNarrative',
        replace:
          (original: typeof narratives.withSafeNarrative, isOff: Off): typeof narratives.withSafeNarrative =>
          (before, after, mayRead) =>
            original(before, after, isOff() || mayRead),
      },
    ],
  },
  {
    name: 'updates by those who do not read everything',
    at: fields('value'),
    by: ['editor'],
    ways: ['update'],
    replaced: [
      {
        file: 'access/policy.ts',
        name: 'canReadAll',
        importers: ['engine/write/update.ts'],
        replace:
          (original: typeof policies.canReadAll, isOff: Off): typeof policies.canReadAll =>
          (...asked) =>
            isOff() || original(...asked),
      },
    ],
  },
  matching('conditional references of transactions', 'bundle/reference-search.ts'),
  matching('conditional writes of transactions', 'bundle/identities.ts'),
];
