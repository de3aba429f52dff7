/** Which tests run together: the slow ones, those that need no database, all others. Told by name and imports, by no list. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { placeOf } from '../architecture/place.ts';
import { tokensOf } from '../architecture/tokens.ts';
import { findReached, type ImportGraph } from './import-graph.ts';

/** Where every test that needs a database gets it. */
const cluster = 'packages/server/test/support/cluster.ts';

/** Whether a test file takes long by its nature; its head comment says why. */
export function isSlow(path: string): boolean {
  return path.endsWith('.slow.test.ts');
}

/** Whether a test file needs neither a database nor processes of its own. */
export function isUnit(path: string, graph: ImportGraph): boolean {
  if (isSlow(path)) return false;
  const reached = findReached(graph, path);
  return !reached.has(cluster) && ![...reached].some((file) => startsProcesses(file, graph));
}

function startsProcesses(file: string, graph: ImportGraph): boolean {
  const links = graph.get(file);
  return links !== undefined && placeOf(file).part === 'test' && links.some(({ to }) => to === 'node:child_process');
}

/**
 * Whether a file awaits something before its tests are declared. What continues after that belongs to whoever made the
 * promise, which in a shared process may be another file; so it gets a process of its own.
 */
export function awaitsAtTop(root: string, path: string): boolean {
  let depth = 0;
  for (const { kind, text } of tokensOf(readFileSync(join(root, path), 'utf8'))) {
    if (kind === 'mark' && '({['.includes(text)) depth += 1;
    if (kind === 'mark' && ')}]'.includes(text)) depth -= 1;
    if (kind === 'word' && text === 'await' && depth === 0) return true;
  }
  return false;
}
