/** What the set-up says to the person in front of it: lines on stderr, and one kind of error. */

/** Prints one line. */
export function say(line) {
  process.stderr.write(`praxis: ${line}\n`);
}

/** A failure that its message explains fully: it is printed as one line, without a stack. */
export class SetupError extends Error {
  constructor(message, options = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SetupError';
    this.exitCode = options.exitCode ?? 1;
  }
}
