/** `praxis content verify`: whether the bytes of documents are those that were uploaded. */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { ContentStore } from '../../../content/content-store.ts';
import { readFirmContents, type StoredContent } from '../../../practice/documents/upkeep.ts';
import type { Command, CommandContext, CommandInput } from '../../command.ts';
import { environmentOption, firmsOption, listSelectedFirms } from '../../options.ts';
import { formatCount } from '../../progress.ts';

export const contentCommands: readonly Command[] = [
  {
    name: 'content verify',
    summary: 'Read all content of documents and find what is missing or was altered',
    arguments: [],
    options: { ...environmentOption, ...firmsOption },
    run: verify,
  },
];

async function verify(context: CommandContext, input: CommandInput): Promise<void> {
  const platform = await context.platform();
  const { database, content } = platform;
  for (const firm of await listSelectedFirms(platform, input)) {
    let [files, bytes, wrong] = [0, 0, 0];
    for await (const each of readFirmContents(database, firm.id)) {
      const problem = await problemOf(content.store, each);
      files += 1;
      bytes += each.size;
      if (problem === undefined) continue;
      wrong += 1;
      context.print(`firm ${firm.prefix}: content ${each.id} (${each.name}) ${problem}`);
    }
    const verdict = wrong === 0 ? 'all as they were uploaded' : `${formatCount(wrong)} of them missing or altered`;
    context.print(`firm ${firm.prefix}: ${formatCount(files)} files, ${formatCount(bytes)} bytes, ${verdict}`);
    if (wrong > 0) process.exitCode = 1;
  }
}

/** What is wrong with the bytes; undefined: nothing. */
async function problemOf(store: ContentStore, { name, size, sha256 }: StoredContent): Promise<string | undefined> {
  const hash = createHash('sha256');
  let found = 0;
  try {
    await pipeline(await store.open(name), async (chunks) => {
      for await (const chunk of chunks) {
        found += chunk.length;
        hash.update(chunk);
      }
    });
  } catch (error) {
    return `cannot be read: ${error instanceof Error ? error.message : 'unknown'}`;
  }
  if (found !== size) return `has ${formatCount(found)} bytes instead of ${formatCount(size)}`;
  return hash.digest().equals(sha256) ? undefined : 'has another hash';
}
