/**
 * $effective-access: what the token of this call may do at this firm, where each of its entries comes from, and why some
 * grant nothing. R4 has no operation for this; docs/decisions/0160 says why there is one.
 */

import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { formatRowQuery } from '../access/row-query.ts';
import type { EntryTrace } from '../access/trace-entries.ts';
import { buildGetRequest } from '../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../engine/context.ts';
import {
  computeOtherAccess,
  computeTypeAccesses,
  type PermissionGrant,
  type TypeAccess,
} from '../engine/rights/effective-access.ts';
import { type OpenOperation, openOperations } from './open-operations.ts';
import { declareInput, declareOutput, declareParts, type Operation, type OperationRequest } from './operation.ts';
import { refuseParameter } from './parameter-problem.ts';
import { listOperations } from './registry.ts';
import { buildParametersResponse, type OutputParameter } from './result.ts';

const listed = { min: 0, max: '*' } as const;
const optional = { min: 0 } as const;

const parameters = [
  declareInput('type', 'code', 'Only these resource types. The default is all.', { max: '*' }),
  declareParts('entry', 'Each access entry of the token, the application and the firm.', [
    declareOutput('entry', 'string', 'The entry.'),
    declareOutput('heldBy', 'code', 'Who has the entry: token, application, firm.', listed),
    declareOutput('effective', 'boolean', 'Whether the entry applies to the call.'),
    declareOutput('reason', 'string', 'Why the entry does not apply.', optional),
  ]),
  declareOutput('bundle', 'code', 'The transaction Bundles that are allowed.', listed),
  declareOutput('interaction', 'code', 'Interactions of the whole system.', listed),
  declareParts('resource', 'A resource type with any permission.', [
    declareOutput('type', 'code', 'The type.'),
    declareOutput('interaction', 'code', 'Interactions with some rows of it.', listed),
    declareParts('grant', 'The rows and elements that a permission letter allows. Grants add up.', [
      declareOutput('letter', 'code', 'r reads, s searches, c creates, u updates and patches.'),
      declareOutput('entry', 'string', 'The entries that grant it.', listed),
      declareOutput(
        'element',
        'string',
        'An allowed element, in addition to id and meta. Absent: all elements.',
        listed,
      ),
      declareOutput('rows', 'string', 'The restriction of rows, as a search. Absent: all rows.', optional),
    ]),
    declareOutput('searchParameter', 'code', 'The search parameters that are allowed.', listed),
    declareOutput('sortKey', 'code', 'The allowed values of _sort.', listed),
    declareOutput('include', 'string', 'The allowed values of _include.', listed),
    declareOutput('revinclude', 'string', 'The allowed values of _revinclude.', listed),
  ]),
  declareParts('operation', 'An allowed operation.', [
    declareOutput('name', 'string', 'Its name, with $.'),
    declareOutput('level', 'code', 'system, type or instance.'),
    declareOutput('type', 'code', 'The resource types that it is allowed on.', listed),
  ]),
];

export const effectiveAccessOperation: Operation = {
  name: 'effective-access',
  url: 'https://praxis.health/fhir/OperationDefinition/effective-access',
  worstCase: { because: 'the rights at all types', request: () => buildGetRequest('$effective-access') },
  rateUnits: ({ parameters: given }) => (given.some(([name]) => name === 'type') ? 0 : 9), // else all types
  levels: ['system'],
  types: 'all',
  affectsState: false,
  parameters,
  // It tells callers of their own rights, and of nothing that is stored.
  authorize: () => undefined,
  answer,
};

const telling = { what: 'Telling of all types', cheaper: 'name those that you ask for by the parameter type' };

/** @throws PraxisError `operation-parameter-invalid` for what is no resource type, `stale-access` */
async function answer(context: InteractionContext, { input }: OperationRequest): Promise<FhirResponse> {
  const types = (input.get('type') ?? []).map(({ value }) => String(value));
  if (!types.every((type) => resourceTypesWithEndpoint.includes(type))) {
    refuseParameter('type', 'must be a resource type of R4 that has an endpoint, such as Patient');
  }
  // A data statement that reads nothing: it finds out whether the rights are still those that are told of.
  await context.store.currentVersions(context.scope, []);
  const { entries, bundles, systemInteractions } = computeOtherAccess(context.policy);
  const resources: OutputParameter[] = [];
  for (const access of computeTypeAccesses(context.policy, context.scope.searchParameters, types)) {
    resources.push(resourceOf(access));
    await context.budget.breathe(telling);
  }
  return buildParametersResponse([
    ...entries.map(entryOf),
    ...codes('bundle', bundles),
    ...codes('interaction', systemInteractions),
    ...resources,
    ...openOperations(listOperations(), context.policy).map(operationOf),
  ]);
}

function entryOf({ entry, heldBy, effective, reason }: EntryTrace): OutputParameter {
  return {
    name: 'entry',
    parts: [
      { name: 'entry', type: 'string', value: entry },
      ...codes('heldBy', heldBy),
      { name: 'effective', type: 'boolean', value: effective },
      ...texts('reason', reason === undefined ? [] : [reason]),
    ],
  };
}

function resourceOf(access: TypeAccess): OutputParameter {
  return {
    name: 'resource',
    parts: [
      ...codes('type', [access.type]),
      ...codes('interaction', access.interactions),
      ...access.grants.map(grantOf),
      ...codes('searchParameter', access.searchParameters),
      ...codes('sortKey', access.sortKeys),
      ...texts('include', access.includes),
      ...texts('revinclude', access.revincludes),
    ],
  };
}

function grantOf({ letter, entries, elements, criteria }: PermissionGrant): OutputParameter {
  return {
    name: 'grant',
    parts: [
      ...codes('letter', [letter]),
      ...texts('entry', entries),
      ...texts('element', elements === 'all' ? [] : elements),
      ...texts('rows', criteria.length === 0 ? [] : [formatRowQuery(criteria)]),
    ],
  };
}

function operationOf({ name, level, types }: OpenOperation): OutputParameter {
  return {
    name: 'operation',
    parts: [...texts('name', [`$${name}`]), ...codes('level', [level]), ...codes('type', types)],
  };
}

function codes(name: string, values: readonly string[]): readonly OutputParameter[] {
  return values.map((value) => ({ name, type: 'code', value }));
}

function texts(name: string, values: readonly string[]): readonly OutputParameter[] {
  return values.map((value) => ({ name, type: 'string', value }));
}
