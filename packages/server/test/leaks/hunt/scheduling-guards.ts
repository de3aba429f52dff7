/**
 * Guards of a practice's work: of slots and what takes them, of files and the links to them, of what waits for the practice.
 */
import type * as policies from '../../../src/access/policy.ts';
import type * as disclosing from '../../../src/engine/rights/disclosing.ts';
import type * as readableMembers from '../../../src/engine/rights/readable-members.ts';
import type * as alternatives from '../../../src/practice/booking/alternatives.ts';
import type * as holds from '../../../src/practice/booking/operations/placing-context.ts';
import type * as offered from '../../../src/practice/calendars/slots/offered-slot.ts';
import type * as slotGrants from '../../../src/practice/calendars/slots/slot-grants.ts';
import type * as contentLinks from '../../../src/practice/documents/content-links.ts';
import type * as contents from '../../../src/practice/documents/store.ts';
import type * as shown from '../../../src/practice/intake/shown.ts';
import { asPlanter, at, type Guard, grantsOfAll, notesPlanters, type Off, wholeGrants } from './guard.ts';

/** Of paths of content that were asked for: what a link is sealed for is tried among them. */
const askedContents = new Set<string>();

export const schedulingGuards: readonly Guard[] = [
  {
    name: 'free slots that a refusal names',
    at: at('slots', 'existence'),
    by: ['creator'],
    ways: ['create'],
    replaced: [
      {
        file: 'practice/booking/alternatives.ts',
        name: 'describeTaken',
        importers: ['practice/booking/reserve.ts'],
        replace:
          (original: typeof alternatives.describeTaken, isOff: Off): typeof alternatives.describeTaken =>
          (context, refused, maySeeSlots) =>
            original(context, refused, isOff() || maySeeSlots),
      },
    ],
  },
  {
    name: 'mask of derived slots',
    at: at('slots', 'existence', 'link'),
    by: ['times'],
    ways: ['slots'],
    replaced: [
      {
        file: 'engine/rights/disclosing.ts',
        name: 'discloseRow',
        importers: ['practice/calendars/slots/derived-slots.ts'],
        replace:
          (original: typeof disclosing.discloseRow, isOff: Off): typeof disclosing.discloseRow =>
          (context, ...row) =>
            original(isOff() ? { ...context, policy: grantsOfAll(context.policy) } : context, ...row),
      },
    ],
  },
  {
    name: 'rows of derived slots',
    at: at('slots', 'existence'),
    by: ['followups'],
    ways: ['slots'],
    replaced: [
      {
        file: 'access/policy.ts',
        name: 'searchGrants',
        importers: ['engine/search/searching.ts'],
        replace:
          (original: typeof policies.searchGrants, isOff: Off): typeof policies.searchGrants =>
          (policy, type, used) =>
            original(isOff() && type === 'Slot' ? grantsOfAll(policy) : policy, type, used),
      },
    ],
  },
  {
    name: 'slots that may be held',
    at: at('slots', 'existence'),
    by: ['followups'],
    ways: ['operation $hold'],
    replaced: [
      {
        file: 'practice/calendars/slots/offered-slot.ts',
        name: 'requireOfferedSlot',
        importers: ['practice/booking/operations/holds.ts'],
        replace:
          (original: typeof offered.requireOfferedSlot, isOff: Off): typeof offered.requireOfferedSlot =>
          (context, id) =>
            original(isOff() ? { ...context, policy: wholeGrants(context.policy) } : context, id),
      },
    ],
  },
  {
    name: 'what operations tell of slots',
    at: at('slots', 'existence', 'link'),
    by: ['times'],
    ways: ['operation $hold', 'operation $find'],
    replaced: [
      {
        file: 'practice/calendars/slots/slot-grants.ts',
        name: 'requireSlotGrants',
        replace:
          (original: typeof slotGrants.requireSlotGrants, isOff: Off): typeof slotGrants.requireSlotGrants =>
          (...asked) =>
            isOff() ? undefined : original(...asked),
      },
      {
        file: 'practice/calendars/slots/slot-grants.ts',
        name: 'listSlotGrants',
        replace:
          (original: typeof slotGrants.listSlotGrants, isOff: Off): typeof slotGrants.listSlotGrants =>
          (policy) =>
            isOff() ? policy.grants('Slot', 's') : original(policy),
      },
    ],
  },
  {
    name: 'holds of others',
    at: at('calendar', 'existence'),
    by: ['booker'],
    ways: ['operation $renew', 'operation $release', 'operation $book'],
    replaced: [
      notesPlanters,
      {
        file: 'practice/booking/operations/placing-context.ts',
        name: 'requireHold',
        replace:
          (original: typeof holds.requireHold, isOff: Off): typeof holds.requireHold =>
          (context, id) =>
            original(isOff() ? { ...context, scope: asPlanter(context.scope) } : context, id),
      },
    ],
  },
  {
    name: 'series that are not read',
    at: at('calendar', 'value'),
    by: ['mover'],
    ways: ['operation $cancel'],
    replaced: [
      {
        file: 'engine/rights/readable-members.ts',
        name: 'compileReadable',
        importers: ['practice/booking/series-members.ts'],
        replace:
          (original: typeof readableMembers.compileReadable, isOff: Off): typeof readableMembers.compileReadable =>
          (...asked) =>
            isOff() ? () => true : original(...asked),
      },
    ],
  },
  {
    name: 'what links to files are sealed for',
    at: at('documents', 'value'),
    by: ['filer'],
    ways: ['content link'],
    replaced: [
      {
        file: 'practice/documents/content-links.ts',
        name: 'openContentLink',
        importers: ['http/content/content-endpoint.ts'],
        replace:
          (original: typeof contentLinks.openContentLink, isOff: Off): typeof contentLinks.openContentLink =>
          (secrets, path, value) => {
            const link = original(secrets, path, value);
            if (!isOff()) return link;
            askedContents.add(path.id);
            if (link !== undefined) return link;
            for (const id of askedContents) {
              const other = original(secrets, { ...path, id }, value);
              if (other !== undefined) return { ...other, holder: 'DocumentReference/report' };
            }
            return undefined;
          },
      },
    ],
  },
  {
    name: 'files of others',
    at: at('documents', 'value'),
    by: ['filer'],
    ways: ['create', 'update'],
    replaced: [
      {
        file: 'practice/documents/store.ts',
        name: 'lockContents',
        importers: ['practice/documents/attach-content.ts'],
        replace:
          (original: typeof contents.lockContents, isOff: Off): typeof contents.lockContents =>
          async (store, scope, ids) => {
            const known = await original(store, scope, ids);
            return isOff() ? known.map((each) => ({ ...each, application: scope.application })) : known;
          },
      },
    ],
  },
  {
    name: 'copies of files in documents that are not seen',
    at: at('documents', 'value'),
    by: ['filer'],
    ways: ['create', 'update'],
    replaced: [
      {
        file: 'engine/rights/disclosing.ts',
        name: 'compileCriterionTest',
        importers: ['practice/documents/attach-content.ts'],
        replace:
          (original: typeof disclosing.compileCriterionTest, isOff: Off): typeof disclosing.compileCriterionTest =>
          (...asked) =>
            isOff() ? () => true : original(...asked),
      },
    ],
  },
  {
    name: 'proposals of others',
    at: at('proposals', 'value', 'existence'),
    by: ['proposer'],
    ways: ['operation $reconciliation'],
    replaced: [
      notesPlanters,
      {
        file: 'practice/intake/shown.ts',
        name: 'findProposalOutcome',
        importers: ['practice/intake/operations.ts'],
        replace:
          (original: typeof shown.findProposalOutcome, isOff: Off): typeof shown.findProposalOutcome =>
          (context, task) =>
            original(isOff() ? { ...context, scope: asPlanter(context.scope) } : context, task),
      },
    ],
  },
];
