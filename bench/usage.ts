/** Command lines of benches: `--help` prints the comment at the top of the source, which tells the options. */
import { readFileSync } from 'node:fs';

/** Statuses as those of `work`; 2 where the arguments cannot be read. @param source of the bench, whose comment is its help */
export async function runWithUsage(
  source: URL,
  args: readonly string[],
  work: (args: readonly string[]) => Promise<number>,
): Promise<number> {
  if (args.includes('--help')) {
    console.log(readComment(source));
    return 0;
  }
  try {
    return await work(args);
  } catch (error) {
    if (!isArgumentError(error)) throw error;
    console.error(`${error.message}\n\n${readComment(source)}`);
    return 2;
  }
}

/** The first comment of the file, without its marks. */
function readComment(source: URL): string {
  const [, comment = ''] = /\/\*\*(.*?)\*\//s.exec(readFileSync(source, 'utf8')) ?? [];
  return comment.replace(/^ *\* ?/gm, '').trim();
}

function isArgumentError(error: unknown): error is Error {
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
