/**
 * Where a JSON text is at fault. The path is found only when an error is thrown, by walking the text again from its
 * beginning, so that parsing itself keeps no account of paths.
 */
import { shortenName, TextError } from './text-error.ts';

export type JsonRule = 'syntax' | 'duplicate-key' | 'forbidden-key' | 'too-deep' | 'too-long';

/** A JSON text that was refused. */
export class JsonError extends TextError<JsonRule> {
  override readonly name = 'JsonError';
}

/**
 * The path of an offset in a text that is valid JSON up to there. With `keyIncluded` the offset is that of a key in
 * quotes, and the path ends with that key.
 */
export function findPath(text: string, offset: number, keyIncluded: boolean): string {
  return shortened(pathAt(text, keyIncluded ? endOfString(text, offset) : offset));
}

/** A path of hundreds of levels would hide what is wrong: its middle is left out. */
function shortened(path: string): string {
  return path.length <= pathLengthMax ? path : `${path.slice(0, pathLengthMax / 2)}…${path.slice(-pathLengthMax / 4)}`;
}

const pathLengthMax = 160;

/** An object or array that is open at the offset: the key or index that is being read in it. */
interface Level {
  readonly array: boolean;
  key: string | undefined;
  index: number;
}

function pathAt(text: string, offset: number): string {
  const levels: Level[] = [];
  let type = '';
  for (let at = 0; at < offset; at++) {
    const character = text.charAt(at);
    if (character !== '"') {
      changeLevel(levels, character);
      continue;
    }
    const end = endOfString(text, at);
    if (end > offset) break;
    const level = levels.at(-1);
    if (level?.array === false) {
      if (level.key === undefined) level.key = JSON.parse(text.slice(at, end));
      else if (levels.length === 1 && level.key === 'resourceType') type = JSON.parse(text.slice(at, end));
    }
    at = end - 1;
  }
  return levels.reduce(appendLevel, type);
}

function changeLevel(levels: Level[], character: string): void {
  if (character === '{' || character === '[') {
    levels.push({ array: character === '[', key: undefined, index: 0 });
  } else if (character === '}' || character === ']') {
    levels.pop();
  } else if (character === ',') {
    const level = levels.at(-1);
    if (level === undefined) return;
    level.index++;
    level.key = undefined;
  }
}

function appendLevel(path: string, level: Level): string {
  if (level.array) return `${path}[${level.index}]`;
  if (level.key === undefined) return path;
  return `${path}${path === '' ? '' : '.'}${formatPathStep(level.key)}`;
}

/** A key as a step of a path: shortened, and delimited as in FHIRPath when it is not an identifier. */
export function formatPathStep(key: string): string {
  const short = shortenName(key);
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(short) ? short : `\`${JSON.stringify(short).slice(1, -1)}\``;
}

/** The offset after the closing quote of the string that begins at an offset. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === '"') return at + 1;
  }
  return Number.POSITIVE_INFINITY;
}
