/**
 * What the interactions take and answer, one row each (https://hl7.org/fhir/R4/http.html). Which of them a path takes is
 * `methods` of fhir-target.ts.
 */
import type { TargetName } from '../engine/fhir-target.ts';
import type { HeaderName, HistoryParameterName } from './request-parameters.ts';
import { formatOfLists } from './search-parameters.ts';

export type DescribedInteraction = Exclude<TargetName, 'operation'>;

/** Answers of success, each a component: `read` and `written` are there for every type. */
export type SuccessName = 'read' | 'written' | 'waiting' | 'bundle' | 'list' | 'unmodified' | 'deleted';

export interface InteractionText {
  /** Begins operationIds; the type of the path follows. */
  readonly verb: string;
  /** `{Type}` stands for the type of the path. */
  readonly summary: string;
  readonly description?: string;
  /** In its place, for some types. */
  readonly descriptions?: Readonly<Record<string, string>>;
  readonly takes?: 'resource' | 'patch' | 'bundle';
  readonly headers: readonly HeaderName[];
  readonly history?: readonly HistoryParameterName[];
  /** Parameters of the form of the answer. */
  readonly shown: readonly string[];
  /** Success, by status. */
  readonly answers: Readonly<Record<number, SuccessName>>;
  /** Statuses of refusals beside those that any request may get. */
  readonly refusals: readonly number[];
}

const form = ['_format', '_pretty'] as const;
const shownResource = ['_summary', '_elements', ...form] as const;
const shownList = ['_summary', '_elements', formatOfLists, '_pretty'] as const;
/** A walk through many resources goes on by a cursor. */
const walked = ['_count', '_cursor', ...shownList] as const;
const changing = ['ifMatch', 'ifNoneMatch', 'preferReturn', 'idempotencyKey'] as const;
const written = { 200: 'written', 201: 'written' } as const;
const reading = {
  headers: ['ifNoneMatch', 'ifModifiedSince'],
  shown: shownResource,
  answers: { 200: 'read', 304: 'unmodified' },
  refusals: [410],
} as const;
const replacing = { takes: 'resource', headers: changing, shown: form, answers: written } as const;
const patching = { takes: 'patch', headers: changing, shown: form, answers: { 200: 'written' } } as const;
const deleting = {
  headers: ['ifMatch', 'ifNoneMatch', 'idempotencyKey'],
  shown: form,
  answers: { 204: 'deleted' },
  refusals: [405, 409, 412, 422],
} as const;
const searching = {
  verb: 'search',
  headers: ['preferHandling', 'contentFlag'],
  shown: [],
  answers: { 200: 'list' },
  refusals: [413, 415, 422],
} as const;
const historyOf = {
  headers: ['preferHandling'],
  shown: ['_count', ...shownList],
  answers: { 200: 'list' },
  refusals: [],
} as const;
const historyOfAll = {
  ...historyOf,
  verb: 'historyOfAll',
  description: 'Needs acl/*.',
  shown: walked,
  history: ['_since', '_at'],
} as const;

export const interactionTexts: Readonly<Record<DescribedInteraction, InteractionText>> = {
  read: { ...reading, headers: [...reading.headers, 'contentFlag'], verb: 'read', summary: 'Read {Type}' },
  vread: { ...reading, verb: 'vread', summary: 'Read a version of {Type}' },
  create: {
    verb: 'create',
    summary: 'Create {Type}',
    description: 'The service assigns the id. With If-None-Exist nothing is created if a resource matches.',
    descriptions: {
      Binary:
        'Without `data` (or without a body, if the caller may not create Binary) nothing is created. The response is 201 with Parameters: `url`, also in Location, accepts one file by PUT within 300 seconds, and `attachment` refers to its content in resources. `contentType` is that of the file. Needs acl/bnry_c_url.',
    },
    takes: 'resource',
    headers: ['ifNoneExist', 'preferReturn', 'idempotencyKey'],
    shown: form,
    answers: written,
    refusals: [405, 409, 412, 413, 415, 422],
  },
  update: {
    ...replacing,
    verb: 'update',
    summary: 'Replace {Type}',
    description:
      'Replaces all elements. To change some of them, use PATCH. With acl/* it can also create the resource.',
    refusals: [405, 409, 410, 412, 413, 415, 422],
  },
  patch: {
    ...patching,
    verb: 'patch',
    summary: 'Patch {Type}',
    refusals: [405, 409, 410, 412, 413, 415, 422],
  },
  delete: {
    ...deleting,
    verb: 'delete',
    summary: 'Delete {Type}',
    description: 'Needs acl/*. Earlier versions stay in the history.',
  },
  'history-instance': {
    ...historyOf,
    verb: 'historyOf',
    summary: 'List the versions of {Type}',
    history: ['_since', '_at', '_before'],
  },
  'history-type': { ...historyOfAll, summary: 'List the versions of all {Type} resources' },
  'history-system': { ...historyOfAll, summary: 'List the versions of all resources' },
  'search-type': { ...searching, summary: 'Search {Type}' },
  'search-system': {
    ...searching,
    summary: 'Search several types',
    description:
      'Omits types that the application may not search; an OperationOutcome among the entries names them. With `Prefer: handling=strict`, such a type in `_type` is refused. AuditEvent has a search of its own.',
  },
  'conditional-update': {
    ...replacing,
    verb: 'conditionalUpdate',
    summary: 'Replace the {Type} that matches, or create one',
    refusals: [405, 409, 412, 413, 415, 422],
  },
  'conditional-patch': {
    ...patching,
    verb: 'conditionalPatch',
    summary: 'Patch the {Type} that matches',
    refusals: [405, 409, 412, 413, 415, 422],
  },
  'conditional-delete': {
    ...deleting,
    verb: 'conditionalDelete',
    summary: 'Delete the {Type} that matches',
    description: 'Needs acl/*.',
  },
  bundle: {
    verb: 'batchOrTransaction',
    summary: 'Run a batch or a transaction',
    description: 'A transaction succeeds or fails as a whole. Each entry of a batch succeeds or fails by itself.',
    takes: 'bundle',
    headers: ['preferReturn', 'idempotencyKey'],
    shown: form,
    answers: { 200: 'bundle' },
    refusals: [405, 409, 410, 412, 413, 415, 422],
  },
};
