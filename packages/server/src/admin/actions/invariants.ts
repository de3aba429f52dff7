/** `praxis invariants broken`: which stored resources break invariants of R4. */
import { resourceTypes } from '@praxis/fhir';
import { one, type Shape } from '../../actions/schema.ts';
import { getTargetFirm } from '../../actions/targets.ts';
import { type ExaminedPlace, listBrokenInvariants } from '../../engine/write/broken-invariants.ts';
import { requestLimits } from '../../limits/budgets.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import { defineAdminAction } from '../context.ts';
import { refuseField } from '../input.ts';

/** Longest name of a type and longest id, with the slash. */
const placeLengthMax = 128;

const broken: Shape = {
  type: { kind: 'text', description: 'The resource type.' },
  id: { kind: 'text', description: 'The id of the resource.' },
  key: {
    kind: 'text',
    nullable: true,
    description: 'The key of the invariant, such as per-1. Null: the resource is too large to check in a request.',
  },
  element: { kind: 'text', description: 'The FHIRPath of the element, never its value.' },
  words: { kind: 'text', description: 'The text of the invariant in R4.' },
};

const page: Shape = {
  items: { kind: 'list', description: 'One row per violated invariant and element.', shape: broken },
  examined: { kind: 'integer', description: 'How many resources this page checked.' },
  next: {
    kind: 'text',
    nullable: true,
    description: 'The value of after for the next page. Null: this is the last page.',
  },
};

export const invariantActions = [
  defineAdminAction({
    name: 'invariants broken',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/broken-invariants',
    summary: 'List the stored resources whose current version violates an invariant of R4, page by page',
    requestNote:
      'In the order of type and id. A page looks at 500 resources at most and may list none: go on with next until it is null. No value of an element is shown.',
    roles: ['operator', 'practice'],
    fields: {
      type: { kind: 'text', lengthMax: 64, description: 'Check only this resource type.' },
      after: { kind: 'text', lengthMax: placeLengthMax, description: 'Type/ID: the member next of the previous page.' },
    },
    output: one(page),
    async run(context, { path, body }) {
      const { database, clock, store, openBudget } = context;
      const wanted = readWanted(body);
      const scope = await openOperatorScope(database, clock, await getTargetFirm(context, path));
      const budget = openBudget(scope, requestLimits);
      const { items, examined, next } = await listBrokenInvariants(store, scope, wanted, budget);
      return {
        items: items.map((item) => ({ ...item, key: item.key ?? null })),
        examined,
        next: next === undefined ? null : `${next.type}/${next.id}`,
      };
    },
  }),
];

/** @throws PraxisError `rule-broken` naming the field */
function readWanted({ type, after }: { readonly type?: string; readonly after?: string }) {
  if (type !== undefined && !resourceTypes.includes(type)) return refuseField('type', 'type is a resource type of R4');
  const place = after === undefined ? undefined : placeOf(after);
  if (type !== undefined && place !== undefined && place.type !== type)
    return refuseField('after', `after is of type ${type}`);
  return { type, after: place };
}

/** @throws PraxisError `rule-broken` */
function placeOf(text: string): ExaminedPlace {
  const [, type = '', id = ''] = /^([A-Za-z]+)\/([A-Za-z0-9\-.]{1,64})$/.exec(text) ?? [];
  return resourceTypes.includes(type)
    ? { type, id }
    : refuseField('after', 'after is Type/ID, as next of the page before');
}
