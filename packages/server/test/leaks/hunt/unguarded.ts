/**
 * Loads the server so that a guard can be taken out of it while it runs: each export that the table of guards names is
 * replaced, as its importers are linked, by one that guards unless the guard is switched off. To be imported before anything
 * of the server is, which the importer then loads by `import()`.
 */
import { registerHooks } from 'node:module';
import type { Replacement } from './guard.ts';
import { guards } from './guards.ts';
import { tellingGuards } from './telling-guards.ts';

const source = new URL('../../../src/', import.meta.url).href;
const mark = 'replaced';
let off: string | undefined;

interface Row extends Replacement {
  readonly guard: string;
}

const rows: readonly Row[] = [...guards, ...tellingGuards].flatMap(({ name, replaced }) =>
  replaced.map((each) => ({ ...each, guard: name })),
);

/** Switches one guard off, and all others on; undefined: all on. */
export function switchOff(guard: string | undefined): void {
  off = guard;
}

/** What the modules made below find under `globalThis`. */
const key = 'praxisLeakHuntReplaced';

function replaced(index: number, original: unknown): unknown {
  const row = rows[index];
  if (row === undefined) throw new TypeError(`no replacement ${index}`);
  return Reflect.apply(row.replace, undefined, [original, () => off === row.guard]);
}

Object.defineProperty(globalThis, key, { value: replaced });

registerHooks({
  resolve(specifier, context, nextResolve) {
    const found = nextResolve(specifier, context);
    const parent = context.parentURL ?? '';
    if (!found.url.startsWith(source) || !parent.startsWith('file:') || parent.includes(`?${mark}=`)) return found;
    const wanted = rows.flatMap((row, index) => (isFor(row, found.url, parent) ? [index] : []));
    return wanted.length === 0 ? found : { ...found, url: `${found.url}?${mark}=${wanted.join('-')}` };
  },
  load(url, context, nextLoad) {
    const [original = '', list] = url.split(`?${mark}=`);
    if (list === undefined) return nextLoad(url, context);
    return { format: 'module', shortCircuit: true, source: moduleOf(original, list.split('-').map(Number)) };
  },
});

function isFor({ file, importers }: Row, url: string, parent: string): boolean {
  if (url !== `${source}${file}`) return false;
  return importers === undefined || importers.some((importer) => parent.split('?')[0] === `${source}${importer}`);
}

/** A module with the exports of another, some of them replaced, one guard around the other. */
function moduleOf(original: string, indexes: readonly number[]): string {
  const names = [...new Set(indexes.map((index) => rows[index]?.name ?? ''))];
  const lines = names.map((name) => {
    const inside = indexes.filter((index) => rows[index]?.name === name);
    const value = inside.reduce((inner, index) => `globalThis.${key}(${index}, ${inner})`, `original.${name}`);
    return `export const ${name} = ${value};`;
  });
  const from = JSON.stringify(original);
  return [`import * as original from ${from};`, `export * from ${from};`, ...lines].join('\n');
}
