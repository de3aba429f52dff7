/** What documents tell people to type exists, and what they say is short and plain. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { commands } from '../../packages/server/src/cli/commands.ts';
import { findCommand, parseInput } from '../../packages/server/src/cli/parse.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const documents = ['*.md', 'docs/*.md', 'docs/{integrate,practice,operate,contribute}/*.md', 'clients/*/*.md'].flatMap(
  (pattern) => globSync(pattern, { cwd: root }),
);
/** Programs print these pages as a whole. */
const printed: ReadonlySet<string> = new Set(
  ['interface', 'leak-hunt', 'mutation'].map((name) => `docs/contribute/${name}.md`),
);
const written = documents.filter((path) => !printed.has(path));
const readmeWordsMax = 600;
const sentenceWordsMax = 30;

/** What a document tells people to type: lines of shell blocks, and code between backticks. */
function typed(text: string): readonly string[] {
  const lines = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
    block.replaceAll('\\\n', ' ').split('\n'),
  );
  const inline = text.replaceAll(/```[\s\S]*?```/g, '').matchAll(/`([^`]+)`/g);
  return [...lines, ...[...inline].map(([, code = '']) => code.replaceAll('\n', ' '))];
}

/** The words of a line as a shell reads them: without quotes, comments and what is piped on. */
function wordsOf(line: string): readonly string[] {
  const [command = ''] = line.split(/ #|[|;>]/);
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
}

for (const path of documents) {
  test(`${path}: every command is one that there is`, () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
    for (const line of typed(read(path))) {
      const [, program, rest = ''] = /^(?:\w+=\S* )*(npx praxis|npm run|npm)(?: (.*))?$/.exec(line) ?? [];
      const [first = '', ...others] = wordsOf(rest);
      if (program === 'npm run') assert.ok(Object.hasOwn(scripts, first), line);
      else if (program === 'npm') assert.ok(['start', 'test', 'ci', 'install', 'pack'].includes(first), line);
      else if (program === 'npx praxis' && first !== '…' && first !== 'help' && first !== 'COMMAND') {
        const found = findCommand(commands, [first, ...others]);
        assert.ok(found, line);
        parseInput(found.command, found.rest);
      }
    }
  });
}

test('README is read in three minutes', () => {
  const words = read('README.md').split(/\s+/).filter(Boolean);
  assert.ok(words.length <= readmeWordsMax, `${words.length} words`);
});

/** The sentences of a document; code is one word, and generated tables are left out. */
function sentencesOf(text: string): readonly string[] {
  return text
    .replaceAll(/<!-- generated:([a-z-]+) -->[\s\S]*?<!-- \/generated:\1 -->/g, '')
    .replaceAll(/^```[\s\S]*?^```$/gm, '\n\n')
    .replaceAll(/`[^`]+`/g, 'code')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .split(/<br>|\n\s*\n|\n(?=\s*(?:[-|#]|\d+\.))|\|/)
    .flatMap((block) => block.split(/[.!?](?=\s|$)/))
    .map((sentence) => sentence.trim());
}

for (const path of written) {
  test(`${path}: sentences are short and plain`, () => {
    for (const sentence of sentencesOf(read(path))) {
      const { length } = sentence.split(/\s+/);
      assert.ok(length <= sentenceWordsMax, `${length} words: ${sentence}`);
      assert.doesNotMatch(sentence, /\bwhoever\b|\bwhat is told\b|\bof which\b/i);
    }
  });
}
