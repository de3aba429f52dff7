/** Undoes a transaction in which a version was no longer the current one: it is to be run again. */
export class Overtaken extends Error {
  constructor() {
    super('Another change came first');
  }
}
