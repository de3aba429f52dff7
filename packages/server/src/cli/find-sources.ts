/**
 * Finding the files of the sources sooner. Node asks for each import whether the file is there, whether it or a directory above is a
 * link, and what the package.json files of all these directories say. An import of ours names a file of TypeScript in full, so there
 * is nothing to ask (docs/decisions/0297).
 */
import { type ResolveFnOutput, registerHooks } from 'node:module';

const packages = new URL('../../../', import.meta.url).href;

/** For all imports that this process begins from now on: who calls it imports by `import()` what needs many files. */
export function findSourcesByName(): void {
  /** What the names of packages stand for, by the package of ours that imports them. */
  const known = new Map<string, ResolveFnOutput>();
  registerHooks({
    resolve(specifier, context, resolveByNode) {
      const { parentURL, conditions } = context;
      const isOurs = parentURL?.startsWith(packages) === true && conditions.includes('import');
      if (!isOurs) return resolveByNode(specifier, context);
      if (specifier.startsWith('.')) {
        if (!specifier.endsWith('.ts')) return resolveByNode(specifier, context);
        return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
      }
      const place = `${parentURL.slice(0, parentURL.indexOf('/', packages.length))} ${specifier}`;
      const found = known.get(place) ?? { ...resolveByNode(specifier, context), shortCircuit: true };
      known.set(place, found);
      return found;
    },
  });
}
