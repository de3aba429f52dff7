/** Circles among the imports of files. */

/** One circle per knot of files that reach each other, each as a path that ends where it begins. */
export function cyclesOf(links: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const state = new Map<string, 'open' | 'done'>();
  const trail: string[] = [];

  const visit = (path: string): void => {
    state.set(path, 'open');
    trail.push(path);
    for (const next of links.get(path) ?? []) {
      if (state.get(next) === 'open') cycles.push([...trail.slice(trail.indexOf(next)), next]);
      else if (!state.has(next)) visit(next);
    }
    trail.pop();
    state.set(path, 'done');
  };

  for (const path of links.keys()) if (!state.has(path)) visit(path);
  return cycles;
}
