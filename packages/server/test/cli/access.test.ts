/** `praxis access explain`, `praxis authorise --row` and `praxis authorisation rows`. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { UsageError } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { createApplication, suspendApplication } from '../../src/tenancy/applications.ts';
import { findAuthorisation, revokeAuthorisation } from '../../src/tenancy/authorisations.ts';
import { makeFirm, openTestPlatform, runCommand } from './platform.ts';

const platform = await openTestPlatform({ after });
const { database } = platform;
const maple = await makeFirm(platform, 'maple');
const acl = ['acl/enc_s', 'acl/obsv_ef_r', 'acl/obsv_ef_s', 'acl/pat_r', 'acl/pat_s_name_dob_gen'];
const vendor = await createApplication(database, { environment: 'sandbox', name: 'Vendor', acl }, entryProblem);

const run = async (...line: readonly string[]) => (await runCommand(platform, commands, ...line)).output;
const explain = (...more: readonly string[]) =>
  run('access', 'explain', '--firm', 'maple', '--application', 'Vendor', ...more);
const rows = (...more: readonly string[]) => run('authorisation', 'rows', 'Vendor', 'maple', ...more);

test('without an authorisation nothing is allowed, whatever the entries', async () => {
  assert.deepEqual(await explain(), ['refused: maple has not authorised Vendor']);
  await assert.rejects(rows('--row', 'obsv_ef?category=exam'), /firm maple has not authorised Vendor/);
});

const wrong: readonly (readonly [line: readonly string[], problem: RegExp])[] = [
  [['--interaction', 'read'], /interaction and parameter are asked of a type/],
  [['--type', 'Patience'], /--type must be one of Account, ActivityDefinition, /],
  [['--type', 'Patient', '--interaction', 'write'], /--interaction must be one of read, vread, /],
  [['--type', 'Patient', '--parameter', 'shoe-size'], /shoe-size: Patient has no such search parameter/],
  [['--scope', 'acl/pat_r  acl/pat_s'], /--scope: scope is a list of entries separated by single spaces/],
  [['--scope', 'acl/pat_u'], /acl\/pat_u is not held by the application/],
];

test('authorised with a row, which is shown, kept by a new authorisation, replaced and taken away', async () => {
  for (const line of ['obsv_ef', 'obsv_ef?sex=male', 'lab_type_path?category=x']) {
    await assert.rejects(run('authorise', 'Vendor', 'maple', '--row', line), UsageError);
  }
  await assert.rejects(
    run('authorise', 'Vendor', 'maple', '--row', 'obsv_ef?category=exam', '--row', 'obsv_ef?_elements=code'),
    /--row: obsv_ef is said twice/,
  );
  assert.equal(await findAuthorisation(database, maple, vendor), undefined);
  await run('authorise', 'Vendor', 'maple', '--row', 'obsv_ef?category=exam&_elements=code,value');
  const stored = [
    ['CODE', 'ROW'],
    ['obsv_ef', 'obsv_ef?category=exam&_elements=code,value'],
  ].map((cells) => cells.join('\t'));
  assert.deepEqual(await rows(), stored);
  await run('authorise', 'Vendor', 'maple', '--purpose', 'Another');
  assert.deepEqual(await rows(), stored);
  assert.deepEqual(await rows('--row', 'obsv_ef?category=vital-signs'), [
    'CODE\tROW',
    'obsv_ef\tobsv_ef?category=vital-signs',
  ]);
  await assert.rejects(rows('--clear', '--row', 'obsv_ef?category=exam'), /--row and --clear exclude each other/);
  assert.deepEqual(await rows('--clear'), ['CODE\tROW']);
});

test('a question that is malformed is refused', async () => {
  for (const [line, problem] of wrong) await assert.rejects(explain(...line), problem);
});

test('an interaction or a parameter: allowed by which entries, or what is missing and who grants it', async () => {
  assert.deepEqual(await explain('--type', 'Patient', '--interaction', 'update'), [
    'refused: Patient update needs acl/pat_u; the application does not hold it: the operator of the service adds it, then the practice grants it',
  ]);
  assert.deepEqual(await explain('--type', 'Patient', '--parameter', 'identifier'), [
    'refused: Patient search by identifier, which reads Patient.identifier, needs acl/pat_s or acl/pat_s_id; the application does not hold it: the operator of the service adds it, then the practice grants it',
  ]);
  assert.deepEqual(await explain('--type', 'Patient', '--parameter', 'birthdate'), [
    'allowed: Patient search by birthdate, by acl/pat_s_name_dob_gen',
  ]);
  assert.deepEqual(await explain('--type', 'Encounter', '--interaction', 'search-type'), [
    'allowed: Encounter search-type, by acl/enc_s',
    '  s: all elements, all rows, by acl/enc_s',
  ]);
  assert.deepEqual(await explain('--type', 'Encounter', '--interaction', 'search-type', '--scope', 'acl/pat_r'), [
    'refused: Encounter search needs acl/enc_s; the practice has granted it, the token does not hold it: request a token with it',
  ]);
  assert.deepEqual(await explain('--type', 'AuditEvent', '--interaction', 'create'), [
    'refused: AuditEvent is written by the server alone: it can be read and searched',
  ]);
});

test('in full: every entry with what became of it, then what the type allows', async () => {
  const lines = await explain('--type', 'Patient', '--scope', 'acl/pat_s_name_dob_gen acl/obsv_ef_s');
  assert.deepEqual(lines.slice(0, 6), [
    'ENTRY\tHELD BY\tEFFECTIVE\tREASON',
    'acl/enc_s\tapplication, firm\tno\tnot granted by the token',
    'acl/obsv_ef_r\tapplication, firm\tno\tnot granted by the token',
    'acl/obsv_ef_s\ttoken, application, firm\tyes\tgrants nothing until an operator says which rows or elements it stands for',
    'acl/pat_r\tapplication, firm\tno\tnot granted by the token',
    'acl/pat_s_name_dob_gen\ttoken, application, firm\tyes\t',
  ]);
  assert.deepEqual(lines.slice(6, 11), [
    '',
    'Patient: search-type',
    '  s: birthDate, gender, name, all rows, by acl/pat_s_name_dob_gen',
    '  search parameters: _id, _lastUpdated, _profile, _security, _source, _tag, birthdate, family, gender, given, name, phonetic',
    '  sort keys: _id, _lastUpdated, _profile, _security, _source, _tag, birthdate, family, gender, given, name',
  ]);
});

test('what is suspended or revoked is said first', async () => {
  await revokeAuthorisation(database, maple, vendor);
  await suspendApplication(database, vendor);
  const lines = await explain('--type', 'Encounter', '--interaction', 'search-type');
  assert.deepEqual(lines.slice(0, 2), [
    'refused: Vendor is suspended',
    'refused: maple has revoked what it authorised',
  ]);
});
