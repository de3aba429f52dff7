/** Values that are made once per key and kept as long as the cache keeps the key. */

interface Cache<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** The cached value of the key, made at the first question. */
export function memoize<K, V extends object | string>(cache: Cache<K, V>, key: K, make: () => V): V {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make();
  cache.set(key, made);
  return made;
}
