/**
 * Two boxes that keep stored data apart from what may leave the server.
 * `Stored` is what storage returns: nobody can send it. `Disclosed<T>` is what http, bundles and exports send: only the
 * field mask (`mask.ts`) makes it from a `Stored`; `markServerWritten` makes it from what the server itself writes.
 * `tools/architecture/table.ts` holds the list of modules that may call each function of this file.
 */
import { isJsonObject, type JsonObject, parseJsonInParts, parseJsonObject, type TypedResource } from '@praxis/fhir';

declare const storedBox: unique symbol;
declare const disclosedBox: unique symbol;

/** A resource of type `T` as text and as value. */
export interface Stored<T extends string = string> {
  readonly [storedBox]: T;
}

export interface Disclosed<T> {
  readonly [disclosedBox]: T;
}

/** What a `Stored` is. The value is left out of comparisons: it follows from the text. */
class Content {
  readonly text: string;
  #value: JsonObject | undefined;

  constructor(text: string, value?: JsonObject) {
    this.text = text;
    this.#value = value;
  }

  get isParsed(): boolean {
    return this.#value !== undefined;
  }

  parse(): JsonObject {
    this.#value ??= parseJsonObject(this.text);
    return this.#value;
  }

  forget(): void {
    this.#value = undefined;
  }

  async parseInSlices(breathe: () => Promise<void>): Promise<JsonObject> {
    if (this.isParsed || this.text.length < slicedCharacters) return this.parse();
    const reading = parseJsonInParts(this.text);
    let read = reading.next();
    for (; read.done !== true; read = reading.next()) await breathe();
    if (!isJsonObject(read.value)) throw new TypeError('the JSON text is no object');
    this.#value ??= read.value;
    return this.#value;
  }
}

/** Texts of so many characters are parsed in slices: a millisecond's work. */
const slicedCharacters = 131_072;

/**
 * Boxes content as it lies in the database. Called by storage, and by interactions for what they are about to store.
 * @param text a resource of type `T`, which was valid when it was written
 * @param value what `text` says, where it is known
 */
export function boxStored<T extends string = string>(text: string, value?: JsonObject): Stored<T> {
  return new Content(text, value) as unknown as Stored<T>;
}

/** The text of a stored box, for validation, indexing and merging inside the server; never to be sent. */
export function getStoredText(box: Stored): string {
  return unbox(box).text;
}

/** The resource in a stored box, parsed at the first question and shared by all: nobody may change it. Never to be sent. */
export function parseStored<T extends string>(box: Stored<T>): TypedResource<T> {
  return unbox(box).parse() as TypedResource<T>; // `stored` vouches for it
}

/**
 * As `parseStored`. A large resource is parsed in slices.
 * @param breathe lets others go on where it is time
 */
export async function parseStoredInSlices<T extends string>(
  box: Stored<T>,
  breathe: () => Promise<void>,
): Promise<TypedResource<T>> {
  return (await unbox(box).parseInSlices(breathe)) as TypedResource<T>; // `stored` vouches for it
}

/** The same content for one look at it: its value goes when the look is over, and does not wait with a page of rows. */
export function copyUnparsed<T extends string>(box: Stored<T>): Stored<T> {
  const content = unbox(box);
  return content.isParsed ? box : boxStored(content.text);
}

/** Lets the value go where the text alone is needed for a while: it is parsed again at the next question. */
export function forgetValue(box: Stored): void {
  unbox(box).forget();
}

function unbox(box: Stored): Content {
  return box as unknown as Content;
}

/** Marks as sendable what passed the field mask. Called by `mask.ts` alone. */
export function markMasked<T>(content: T): Disclosed<T> {
  return content as unknown as Disclosed<T>;
}

/** Marks as sendable what the server itself wrote: OperationOutcome, CapabilityStatement, Bundle shells, counts. */
export function markServerWritten<T>(content: T): Disclosed<T> {
  return content as unknown as Disclosed<T>;
}

/** The sendable content. Called where answers are assembled and sent. */
export function unwrapDisclosed<T>(box: Disclosed<T>): T {
  return box as unknown as T;
}
