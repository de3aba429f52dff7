/**
 * SMART v2 scopes of systems
 * (http://hl7.org/fhir/smart-app-launch/STU2/scopes-and-launch-context.html#scopes-for-requesting-fhir-resources):
 *
 *     scope = "system/" ( resource type | "*" ) "." letters [ "?" query ]     system/Patient.rs?gender=female
 *
 * Letters are some of `cruds` in this order; a query limits the rows, as criteria of access entries do. What is not
 * understood grants nothing: a scope whose query is not understood must not grant what it would without it.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import type { Criterion, Permission } from './entries/definition.ts';
import { type EntryRefusal, makeEntryRefusal } from './refusal.ts';
import { formatRowQuery, parseRowQuery, type RowQueryProblem } from './row-query.ts';
import { listCriterionProblems } from './verify-entries.ts';

/** Characters of one SMART scope. */
export const smartCharactersMax = 400;

/** In the place of a resource type: all of them. */
export const everyType = '*';

export interface SmartScope {
  readonly kind: 'smart';
  readonly text: string;
  /** Resource type, or `*`. */
  readonly type: string;
  /** At least one, in the order of the text. */
  readonly letters: readonly Permission[];
  /** All must hold on a row; empty: every row. */
  readonly criteria: readonly Criterion[];
}

/** Scopes of SMART that are about a person or a launch, which this service does not have, and why not. */
const otherScopes: readonly { readonly is: RegExp; readonly problem: string }[] = [
  {
    is: /^patient\//,
    problem: 'patient/ is about the patient of a launch; applications act for a practice here: use system/',
  },
  {
    is: /^user\//,
    problem: 'user/ is about what a person who logged in may do; applications act for a practice here: use system/',
  },
  {
    is: /^(launch(\/.*)?|openid|profile|fhirUser|online_access|offline_access)$/,
    problem: 'it is about a person who logs in; no person does here',
  },
];

/** Whether a text is meant as a scope of SMART. */
export function isSmartLike(text: string): boolean {
  return text.startsWith('system/') || otherScopes.some(({ is }) => is.test(text));
}

/** The scope that a text stands for, or the refusal. Case-sensitive. */
export function parseSmartScope(text: string): SmartScope | EntryRefusal {
  if (text.length > smartCharactersMax)
    return makeEntryRefusal(text, 'too-long', `a SMART scope has ${smartCharactersMax} characters at most`);
  const other = otherScopes.find(({ is }) => is.test(text));
  if (other) return makeEntryRefusal(text, 'context', other.problem);
  const [, type = '', rest = ''] = /^system\/([^./?]*)(.*)$/su.exec(text) ?? [];
  if (type !== everyType && !resourceTypesWithEndpoint.includes(type))
    return makeEntryRefusal(text, 'type', 'after system/ comes a resource type of R4 that has an endpoint, or *');
  const at = rest.indexOf('?');
  const letters = readPermissions(at < 0 ? rest : rest.slice(0, at));
  if ('problem' in letters) return makeEntryRefusal(text, 'letter', letters.problem);
  if (at < 0) return { kind: 'smart', text, type, letters, criteria: [] };
  const criteria = readCriteria(type, rest.slice(at + 1));
  if ('problem' in criteria) return makeEntryRefusal(text, 'query', criteria.problem);
  return { kind: 'smart', text, type, letters, criteria };
}

/** The scope as one scope per letter: `system/Patient.rs` is `system/Patient.r` and `system/Patient.s`. */
export function splitScope({ type, letters, criteria }: SmartScope): readonly SmartScope[] {
  const query = criteria.length === 0 ? '' : `?${formatRowQuery(criteria)}`;
  return letters.map((letter) => ({
    kind: 'smart',
    text: `system/${type}.${letter}${query}`,
    type,
    letters: [letter],
    criteria,
  }));
}

const known: readonly Permission[] = ['c', 'r', 'u', 's'];

/** `.rs` → r, s. */
function readPermissions(text: string): readonly Permission[] | RowQueryProblem {
  const word = text.slice(1);
  if (/^\.(read|write|\*)$/.test(text))
    return { problem: `.${word} is of SMART v1; v2 writes letters: .rs reads and searches, .cu creates and updates` };
  if (!/^\.c?r?u?d?s?$/.test(text) || word === '')
    return { problem: 'after the type come a dot and some of the letters cruds, in this order' };
  if (word.includes('d')) return { problem: 'd is not offered: deleting needs acl/*, which operators hold' };
  return known.filter((letter) => word.includes(letter));
}

function readCriteria(type: string, query: string): readonly Criterion[] | RowQueryProblem {
  const criteria = parseRowQuery(query);
  if ('problem' in criteria) return criteria;
  const types = type === everyType ? resourceTypesWithEndpoint : [type];
  for (const each of types) {
    const [problem] = criteria.flatMap((criterion) => listCriterionProblems(each, criterion));
    if (problem !== undefined) return { problem };
  }
  return criteria;
}
