/** Where each entry comes from and what became of it: whole lists, entries that grant nothing first. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { compilePolicy } from '../../src/access/policy.ts';
import { type EntryTrace, traceEntries } from '../../src/access/trace-entries.ts';

interface Sides {
  readonly carried?: readonly string[];
  readonly application: readonly string[];
  readonly firm: readonly string[];
}

const everybody = ['token', 'application', 'firm'] as const;
const meaningless = 'grants nothing until an operator says which rows or elements it stands for';

const traces: readonly (readonly [name: string, sides: Sides, traces: readonly EntryTrace[]])[] = [
  [
    'an entry that nobody understands',
    { application: ['acl/nothing_r'], firm: ['acl/*'] },
    [
      {
        entry: 'acl/*',
        heldBy: ['firm'],
        effective: false,
        reason: 'not granted by the token and the application',
      },
      {
        entry: 'acl/nothing_r',
        heldBy: ['token', 'application'],
        effective: false,
        reason:
          '"acl/nothing_r" is not an access entry: no access code begins like this; docs/integrate/access-entries.md lists them',
      },
    ],
  ],
  [
    'an entry that the token does not carry',
    { carried: ['acl/pat_r'], application: ['acl/pat_r', 'acl/pat_s'], firm: ['acl/pat_r', 'acl/pat_s'] },
    [
      { entry: 'acl/pat_r', heldBy: everybody, effective: true },
      { entry: 'acl/pat_s', heldBy: ['application', 'firm'], effective: false, reason: 'not granted by the token' },
    ],
  ],
  [
    'an entry whose place a narrower one takes',
    { application: ['acl/pat_s_name_dob_gen'], firm: ['acl/pat_s'] },
    [
      {
        entry: 'acl/pat_s',
        heldBy: ['firm'],
        effective: false,
        reason: 'not granted by the token and the application',
      },
      { entry: 'acl/pat_s_name_dob_gen', heldBy: ['token', 'application'], effective: true },
    ],
  ],
  [
    'an entry that another of the same side covers',
    { application: ['acl/*'], firm: ['acl/*', 'acl/pat_s'] },
    [
      { entry: 'acl/*', heldBy: everybody, effective: true },
      { entry: 'acl/pat_s', heldBy: ['firm'], effective: true },
    ],
  ],
  [
    'of two entries that grant the same one is effective',
    { application: ['acl/pat_r'], firm: ['system/Patient.r'] },
    [
      { entry: 'acl/pat_r', heldBy: ['token', 'application'], effective: true },
      {
        entry: 'system/Patient.r',
        heldBy: ['firm'],
        effective: false,
        reason: 'narrower or equal entries of the others take its place',
      },
    ],
  ],
  [
    'an entry without a meaning, beside others that have a right, a kind of Bundle or an upload',
    {
      application: ['acl/obsv_ef_s', 'acl/pat_r', 'acl/trans_bndl_diag_rprt_labs', 'acl/bnry_c_url'],
      firm: ['acl/obsv_ef_s', 'acl/pat_r', 'acl/trans_bndl_diag_rprt_labs', 'acl/bnry_c_url'],
    },
    [
      { entry: 'acl/bnry_c_url', heldBy: everybody, effective: true },
      { entry: 'acl/obsv_ef_s', heldBy: everybody, effective: true, reason: meaningless },
      { entry: 'acl/pat_r', heldBy: everybody, effective: true },
      { entry: 'acl/trans_bndl_diag_rprt_labs', heldBy: everybody, effective: true },
    ],
  ],
  [
    'a filter, which grants nothing and says so of itself',
    { application: ['acl/lab_type_path'], firm: [] },
    [{ entry: 'acl/lab_type_path', heldBy: ['token', 'application'], effective: true }],
  ],
  [
    'a scope of SMART, whose letters meet one by one',
    { application: ['system/Patient.rs'], firm: ['system/Patient.cr'] },
    [
      { entry: 'system/Patient.cr', heldBy: ['firm'], effective: true },
      { entry: 'system/Patient.rs', heldBy: ['token', 'application'], effective: true },
    ],
  ],
];

for (const [name, { carried, application, firm }, expected] of traces) {
  test(name, () => {
    const policy = compilePolicy(carried ?? application, firm, {
      origin: { carried, applicationEntries: application },
    });
    assert.deepEqual(traceEntries(policy), expected);
  });
}
