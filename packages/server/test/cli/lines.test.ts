import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { readLines } from '../../src/cli/lines.ts';

fc.configureGlobal({ seed: 20261121 });

async function* chunksOf(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let from = 0;
  for (let index = 0; from < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    yield bytes.subarray(from, from + size);
    from += size;
  }
}

async function linesOf(
  text: string,
  bytesMax: number,
  sizes: readonly number[] = [3],
): Promise<[number, string | undefined][]> {
  const lines: [number, string | undefined][] = [];
  for await (const { number, bytes } of readLines(chunksOf(Buffer.from(text), sizes), bytesMax))
    lines.push([number, bytes?.toString()]);
  return lines;
}

test('a line that is too long is passed over, and the next ones keep their numbers', async () => {
  assert.deepEqual(await linesOf('abcd\nabcde\n\nabc\r\nabcdefghijkl', 4), [
    [1, 'abcd'],
    [2, undefined],
    [3, ''],
    [4, 'abc'],
    [5, undefined],
  ]);
});

test('nothing has no lines, and an end of line after the last one makes no further line', async () => {
  assert.deepEqual(await linesOf('', 10), []);
  assert.deepEqual(await linesOf('a\n', 10), [[1, 'a']]);
  assert.deepEqual(await linesOf('\n\n', 10), [
    [1, ''],
    [2, ''],
  ]);
});

test('lines are the same wherever the chunks of the stream end', async () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '"', ' ', '\\') });
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      async (texts, sizes) => {
        const read = await linesOf(texts.map((text) => `${text}\n`).join(''), 1000, sizes);
        assert.deepEqual(
          read,
          texts.map((text, index) => [index + 1, text]),
        );
      },
    ),
  );
});
