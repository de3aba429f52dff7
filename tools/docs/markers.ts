/** Generated blocks inside documents that people write: they stand between two comments. */

/**
 * The document with each block put between `<!-- generated:NAME -->` and `<!-- /generated:NAME -->`.
 * Throws if the document lacks the markers of a block, or has markers of a block that nobody generates.
 */
export function withBlocks(document: string, blocks: ReadonlyMap<string, string>): string {
  const present = [...document.matchAll(/<!-- generated:([a-z-]+) -->/g)].map((match) => match[1] ?? '');
  const missing = [...blocks.keys()].filter((name) => !present.includes(name));
  const unknown = present.filter((name) => !blocks.has(name));
  if (missing.length > 0) throw new Error(`no markers for the generated block ${missing.join(', ')}`);
  if (unknown.length > 0) throw new Error(`nothing generates the block ${unknown.join(', ')}`);
  return present.reduce((text, name) => {
    const [begin, end] = [`<!-- generated:${name} -->`, `<!-- /generated:${name} -->`];
    const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
    if (to < from) throw new Error(`the generated block ${name} has no end`);
    return `${text.slice(0, from)}\n${blocks.get(name)}\n${text.slice(to)}`;
  }, document);
}
