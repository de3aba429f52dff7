/**
 * A bound on the entries of an LRUCache that takes memory as they come. With its option `max` the library makes room for all of them
 * at once: the caches of a worker that nobody has called would hold some megabytes.
 */
export function boundEntries(entriesMax: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: entriesMax, sizeCalculation: () => 1 };
}
