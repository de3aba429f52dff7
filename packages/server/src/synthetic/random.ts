/**
 * Deterministic randomness: the same seed and names give the same stream on every machine, and a stream for one patient
 * does not depend on how many others were made before.
 */

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** `count` different items at most. */
  sample<T>(items: readonly T[], count: number): T[];
}

/** A stream of its own for `names` (mulberry32: 32 bits of state are plenty for data that only has to look alive). */
export function openRandom(...names: readonly (string | number)[]): Random {
  let state = 0x811c9dc5; // FNV-1a over UTF-16 units: 32 bits that tell streams apart
  for (const character of names.join('/')) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193);
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  const pick = <T>(items: readonly T[]): T => {
    const item = items[integer(0, items.length - 1)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  };
  return {
    next,
    integer,
    pick,
    chance: (probability) => next() < probability,
    sample(items, count) {
      const rest = [...items];
      const taken: (typeof rest)[number][] = [];
      while (taken.length < count && rest.length > 0) taken.push(...rest.splice(integer(0, rest.length - 1), 1));
      return taken;
    },
  };
}
