/**
 * $validate: whether a resource would be accepted, and what is wrong with it
 * (https://hl7.org/fhir/R4/resource-operation-validate.html). What is checked and who may ask: docs/decisions/0101, 0102.
 */

import { listGrantingEntries } from '../access/explain.ts';
import { PraxisError } from '../base/errors.ts';
import { buildOperationRequest, makeLargePatient } from '../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../engine/context.ts';
import { type RightsContext, refuse, requireGrants } from '../engine/rights/denials.ts';
import { requireWritable } from '../engine/write/read-only-types.ts';
import { openTerminology } from '../terminology/terminology.ts';
import { type Finding, validate as findingsOf, type ValueSetMembership } from '../validation/validation.ts';
import { findCanonical } from './firm-canonicals.ts';
import { readObjectInput, readTextInput } from './input.ts';
import { declareInput, declareOutput, type Operation } from './operation.ts';
import { refuseParameter } from './parameter-problem.ts';
import { buildOwnResourceResponse } from './result.ts';
import {
  checkCreate,
  checkDelete,
  checkFirmCodes,
  checkUpdate,
  readStoredResource,
  type ValidateRequest,
} from './validate-modes.ts';

/** https://hl7.org/fhir/R4/valueset-resource-validation-mode.html */
const modes = ['create', 'update', 'delete', 'profile'] as const;
type Mode = (typeof modes)[number];

const ruleSystem = 'https://praxis.health/fhir/CodeSystem/validation-rule';

export const validateOperation: Operation<'type' | 'instance'> = {
  name: 'validate',
  url: 'http://hl7.org/fhir/OperationDefinition/Resource-validate',
  worstCase: {
    because: 'a large resource, examined with all invariants and profiles',
    request: () =>
      buildOperationRequest('Patient/$validate', [{ name: 'resource', resource: makeLargePatient('siege', 2_000) }]),
  },
  rateUnits: 1,
  levels: ['type', 'instance'],
  types: 'all',
  affectsState: false,
  parameters: [
    declareInput(
      'resource',
      'Resource',
      'The resource to validate. At an instance, the default is the stored resource.',
      {
        unchecked: true,
      },
    ),
    declareInput('mode', 'code', `What it is for: ${modes.join(', ')}.`),
    declareInput(
      'profile',
      'uri',
      'Canonical URL of a profile that the resource must conform to, in addition to its meta.profile.',
    ),
    declareOutput('return', 'OperationOutcome', 'All issues. If there are none, one with severity information.'),
  ],
  authorize(context, { type }) {
    // Which right it takes depends on the mode, which is read later: here at least one of them.
    if (!context.policy.mayDelete && !mayAsk(context, type)) requireGrants(context, type, 's');
  },
  answer,
};

/**
 * 200 with an OperationOutcome, whatever is wrong with the resource.
 * @throws PraxisError `access-denied`, `method-not-allowed` (a type that only the server writes), `resource-not-found`,
 *   `operation-parameter-invalid`, `profile-unknown`, `rate-exceeded` and `unavailable` (too many wait for theirs)
 */
async function answer(context: InteractionContext, request: ValidateRequest): Promise<FhirResponse> {
  const mode = modeOf(readTextInput(request.input, 'mode'));
  requireRight(context, request.type, mode);
  if (mode === 'delete') return outcome(await checkDelete(context, request));
  const resource = readObjectInput(request.input, 'resource') ?? (await readStoredResource(context, request));
  const profile = readTextInput(request.input, 'profile');
  const findings = await findingsOf(context.validator, resource, {
    type: request.type,
    profiles: profile === undefined ? [] : [profile],
    lookup: (canonical) => findCanonical(context, 'StructureDefinition', canonical),
    isMember: membership(context),
    of: context.scope,
    budget: context.budget,
  });
  if (mode !== 'create' && mode !== 'update')
    return outcome([...findings, ...(await checkFirmCodes(context, request, resource))]);
  const isSound = findings.every(({ severity }) => severity !== 'error');
  const would = mode === 'create' ? checkCreate : checkUpdate;
  return outcome([...findings, ...(await would(context, request, resource, isSound))]);
}

function modeOf(text: string | undefined): Mode | undefined {
  if (text === undefined) return undefined;
  return modes.find((mode) => mode === text) ?? refuseParameter('mode', `must be one of ${modes.join(', ')}`);
}

function requireRight(context: InteractionContext, type: string, mode: Mode | undefined): void {
  if (mode === 'create' || mode === 'update') {
    requireWritable(type);
    requireGrants(context, type, mode === 'create' ? 'c' : 'u');
  } else if (mode === 'delete') {
    requireWritable(type);
    if (!context.policy.mayDelete) refuse(context, `${type} delete`, ['acl/*']);
  } else if (!mayAsk(context, type)) {
    const entries = askingLetters.flatMap((letter) => listGrantingEntries(context.policy, type, letter));
    refuse(context, `$validate of ${type}`, [...new Set(entries)]);
  }
}

/** One of these rights is enough, where nothing is said of a mode. */
const askingLetters = ['s', 'c', 'u'] as const;

function mayAsk({ policy }: RightsContext, type: string): boolean {
  return askingLetters.some((letter) => policy.allows(type, letter));
}

/** What cannot be evaluated here is no answer. @throws PraxisError `too-costly`, since nothing after it could be checked */
function membership(context: InteractionContext): ValueSetMembership {
  const terminology = openTerminology(context.budget, (kind, url, version) =>
    findCanonical(context, kind, version === undefined ? url : `${url}|${version}`),
  );
  return async (valueSet, code) => {
    try {
      const { is } = await terminology.contains(valueSet, code);
      return is === 'undecided' ? undefined : is === 'member';
    } catch (error) {
      if (error instanceof PraxisError && error.status < 500 && error.code !== 'too-costly') return undefined;
      throw error;
    }
  };
}

/** R4 wants every issue told apart by severity; a sound resource gets one issue that says so. */
function outcome(findings: readonly Finding[]): FhirResponse {
  const issue = findings.map(({ severity, code, path, rule, diagnostics }) => ({
    severity,
    code,
    details: { coding: [{ system: ruleSystem, code: rule }], text: diagnostics },
    diagnostics,
    expression: [path],
  }));
  const sound = { severity: 'information', code: 'informational', diagnostics: 'No issues were found' };
  return buildOwnResourceResponse({ resourceType: 'OperationOutcome', issue: issue.length === 0 ? [sound] : issue });
}
