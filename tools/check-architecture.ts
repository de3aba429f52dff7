/**
 * Checks that the sources follow tools/architecture/table.ts and that docs/contribute/architecture.md shows that table.
 *
 *     node tools/check-architecture.ts [--write]    --write: renew the tables in docs/contribute/architecture.md
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { architectureBlocks } from './architecture/document.ts';
import { violationsOf } from './architecture/rules.ts';
import { readTree } from './architecture/tree.ts';
import { withBlocks } from './docs/markers.ts';

const documentPath = 'docs/contribute/architecture.md';

/** Lines that say what breaks the architecture under `root`; none if all is well. `isWrite` renews the document first. */
export function checkArchitecture(root: string, isWrite: boolean): string[] {
  const violations = violationsOf(readTree(root)).map(({ path, line, message }) => `${path}:${line} ${message}`);
  return [...violations, ...checkDocument(join(root, documentPath), isWrite)];
}

function checkDocument(file: string, isWrite: boolean): string[] {
  if (!existsSync(file)) return [`${documentPath}:1 does not exist`];
  const current = readFileSync(file, 'utf8');
  const wanted = withBlocks(current, architectureBlocks());
  if (wanted === current) return [];
  if (!isWrite) return [`${documentPath}:1 differs from tools/architecture/table.ts: run "npm run docs"`];
  writeFileSync(file, wanted);
  return [];
}

if (import.meta.main) {
  const lines = checkArchitecture(join(import.meta.dirname, '..'), process.argv.includes('--write'));
  for (const line of lines) console.error(line);
  process.exitCode = lines.length === 0 ? 0 : 1;
}
