/**
 * An LRU cache: a bounded memory of what was used lately. Two generations instead of a linked list: a hit in the young
 * one costs one lookup, and an entry that is not used while a whole generation fills is forgotten.
 */
export interface LruCache<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
}

/** @param entriesMax bound of what is kept; between half of it and all of it is kept under load */
export function openLruCache<K, V>(entriesMax: number): LruCache<K, V> {
  const generationMax = Math.max(1, Math.floor(entriesMax / 2));
  let young = new Map<K, V>();
  let old = new Map<K, V>();
  const set = (key: K, value: V): void => {
    if (young.size >= generationMax && !young.has(key)) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
    old.delete(key);
  };
  return {
    set,
    get(key) {
      const recent = young.get(key);
      if (recent !== undefined) return recent;
      const earlier = old.get(key);
      if (earlier !== undefined) set(key, earlier);
      return earlier;
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
  };
}
