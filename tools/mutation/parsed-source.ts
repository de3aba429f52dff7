/**
 * Sources as syntax trees of the pinned compiler. Its interface is of the kind that may change with the compiler's version
 * ("unstable"), so no other file opens it.
 */
import type { SourceFile } from 'typescript/unstable/ast';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { API } from 'typescript/unstable/sync';

const folder = '/sources';
const configuration = `${folder}/tsconfig.json`;

/** Calls `use` with the tree of each text, by its path from the root; without types of what they import. */
export function parseSources<T>(
  texts: ReadonlyMap<string, string>,
  use: (path: string, source: SourceFile) => readonly T[],
): readonly T[] {
  const files = Object.fromEntries([...texts].map(([path, text]) => [`${folder}/${path}`, text]));
  const settings = JSON.stringify({ compilerOptions: { noLib: true, types: [] }, files: [...texts.keys()] });
  const compiler = new API({ cwd: folder, fs: createVirtualFileSystem({ ...files, [configuration]: settings }) });
  try {
    const [project] = compiler.updateSnapshot({ openProjects: [configuration] }).getProjects();
    return [...texts.keys()].flatMap((path) => {
      const source = project?.program.getSourceFile(`${folder}/${path}`);
      if (source === undefined) throw new Error(`${path} cannot be parsed`);
      return use(path, source);
    });
  } finally {
    compiler.close();
  }
}
