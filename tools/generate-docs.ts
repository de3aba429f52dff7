/**
 * The references that are generated into documents, between markers (tools/docs/markers.ts), and the files that are generated whole.
 *
 *     node tools/generate-docs.ts [--write]    without --write: only says which of them are out of date
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessEntryTables } from './docs/access-entries.ts';
import { adminActionTables } from './docs/admin-actions.ts';
import { applicationSettingsTable, contentFlagTable } from './docs/application-settings.ts';
import { commandHelp } from './docs/commands.ts';
import { conformanceBlocks } from './docs/conformance.ts';
import { decisionIndex } from './docs/decisions.ts';
import { apiErrorTable, tokenErrorTable } from './docs/errors.ts';
import { withBlocks } from './docs/markers.ts';
import { metricLabelsTable, metricsTable } from './docs/metrics.ts';
import { pythonTypes } from './docs/python-types.ts';
import { settingsTables } from './docs/settings.ts';
import { actorTable, effectTable, stateParts } from './docs/states.ts';
import { valueSetTable } from './docs/value-sets.ts';

/** Document → block → what generates it. */
const documents: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/integrate/access-entries.md': { 'access-entries': accessEntryTables },
  'docs/decisions/README.md': { decisions: () => decisionIndex() },
  'docs/operate/admin.md': { 'admin-actions': adminActionTables },
  'docs/practice/application-settings.md': {
    'application-settings': applicationSettingsTable,
    'content-flags': contentFlagTable,
  },
  'docs/operate/cli.md': { commands: commandHelp },
  'docs/operate/monitor.md': { metrics: metricsTable, 'metric-labels': metricLabelsTable },
  'docs/operate/settings.md': { settings: settingsTables },
  'docs/integrate/conformance.md': conformanceBlocks,
  'docs/integrate/errors.md': { 'api-errors': apiErrorTable, 'token-errors': tokenErrorTable },
  'docs/integrate/states.md': { actors: actorTable, effects: effectTable, states: stateParts },
  'docs/practice/value-sets.md': { 'value-sets': valueSetTable },
};

/** File → what generates it as a whole. */
const files: Readonly<Record<string, () => string>> = {
  'clients/python/src/praxis_client/r4.py': pythonTypes,
};

/** Lines that say which documents and files under `root` are out of date; `isWrite` renews them first. */
export function checkDocs(root: string, isWrite: boolean): string[] {
  return [...checkBlocks(root, isWrite), ...checkFiles(root, isWrite)];
}

function checkFiles(root: string, isWrite: boolean): string[] {
  return Object.entries(files).flatMap(([path, generate]) => {
    const file = join(root, path);
    const wanted = generate();
    if (existsSync(file) && readFileSync(file, 'utf8') === wanted) return [];
    if (!isWrite) return [`${path}:1 is out of date: run "npm run docs"`];
    writeFileSync(file, wanted);
    return [];
  });
}

function checkBlocks(root: string, isWrite: boolean): string[] {
  return Object.entries(documents).flatMap(([path, generators]) => {
    const file = join(root, path);
    if (!existsSync(file)) return [`${path}:1 does not exist`];
    const current = readFileSync(file, 'utf8');
    const blocks = new Map(Object.entries(generators).map(([name, generate]) => [name, generate()]));
    const wanted = withBlocks(current, blocks);
    if (wanted === current) return [];
    if (!isWrite) return [`${path}:1 is out of date: run "npm run docs"`];
    writeFileSync(file, wanted);
    return [];
  });
}

if (import.meta.main) {
  const lines = checkDocs(join(import.meta.dirname, '..'), process.argv.includes('--write'));
  for (const line of lines) console.error(line);
  process.exitCode = lines.length === 0 ? 0 : 1;
}
