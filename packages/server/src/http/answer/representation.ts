/**
 * Disclosed JSON texts in the format of the answer. The text passed the field mask before: what is written here is another
 * spelling of it and nothing more.
 */
import {
  type BudgetedWork,
  type BudgetLimits,
  isJsonObject,
  type JsonLimits,
  type JsonObject,
  type JsonValue,
  parseJson,
  parseJsonInParts,
  toXml,
  toXmlParts,
} from '@praxis/fhir';
import type { OpenBudget } from '../../limits/budgets.ts';
import type { TurnOf } from '../../limits/fair-queue.ts';
import type { Slices } from '../../limits/slices.ts';
import type { AnswerFormat } from './answer-format.ts';

/** What the server wrote or stored is not bounded a second time. */
const noLimits: JsonLimits = {
  depthMax: Number.MAX_SAFE_INTEGER,
  arrayLengthMax: Number.MAX_SAFE_INTEGER,
  stringLengthMax: Number.MAX_SAFE_INTEGER,
};

/** Nobody reads longer texts, in characters, and what is deep takes many times as many when it is indented. */
const prettyCharactersMax = 1_048_576;

/** A resource's JSON text in a format; compact JSON is the text itself. */
export function encodeRepresentation(json: string, { kind, pretty: isPrettyWished }: AnswerFormat): string {
  const pretty = isPrettyWished && json.length <= prettyCharactersMax;
  if (kind === 'json' && !pretty) return json;
  const resource = parseJson(json, noLimits);
  return kind === 'json' ? JSON.stringify(resource, null, 2) : toXml(requireObject(resource), { pretty });
}

/** Gives what `encodeRepresentation` does. */
export type Represent = (json: string, format: AnswerFormat) => string | Promise<string>;

/** How the answer to one request is written. */
export interface AnswerWriting {
  readonly represent: Represent;
  /** Resolves when the next slice of the event loop may begin. */
  readonly nextSlice: () => Promise<void>;
}

/** For answers that are small, and whose caller is not known. */
export const writingAtOnce: AnswerWriting = {
  represent: encodeRepresentation,
  nextSlice: () => new Promise((resolve) => setImmediate(resolve)),
};

/** JSON texts of so many characters are written as XML in slices: a few milliseconds' work. */
const slicedCharacters = 131_072;

const writingXml: BudgetedWork = { what: 'The answer in XML', cheaper: 'ask for application/fhir+json' };

/**
 * What it costs is in proportion to the answer. Nobody is refused for it: the ledger tells already that the request was
 * answered, and what was written is written.
 */
const noBudget: BudgetLimits = {
  steps: Number.POSITIVE_INFINITY,
  bytes: Number.POSITIVE_INFINITY,
  ms: Number.POSITIVE_INFINITY,
};

/**
 * Writes small texts at once. Large ones become XML in slices, in the turn of `of`, one after another: the resource
 * that is parsed takes several times the memory of its text.
 * @param isGone whether nobody waits for the answer any longer
 */
export function openAnswerWriting(
  { slices, openBudget }: { readonly slices: Slices; readonly openBudget: OpenBudget },
  of: TurnOf,
  isGone: () => boolean,
): AnswerWriting {
  const represent: Represent = (json, format) => {
    if (format.kind === 'json' || json.length < slicedCharacters) return encodeRepresentation(json, format);
    const pretty = format.pretty && json.length <= prettyCharactersMax;
    return slices.alone(of, async () => {
      const budget = openBudget(of, noBudget, isGone);
      const parsing = parseJsonInParts(json, noLimits);
      let parsed = parsing.next();
      for (; parsed.done !== true; parsed = parsing.next()) await budget.breathe(writingXml);
      const texts: string[] = [];
      for (const text of toXmlParts(requireObject(parsed.value), { pretty })) {
        texts.push(text);
        await budget.breathe(writingXml);
      }
      return texts.join('');
    });
  };
  // Only its end is left: encoding alone is not large work.
  const age = { sinceMs: 0, untilMs: Number.POSITIVE_INFINITY, slices: 0 };
  return { represent, nextSlice: () => slices.nextOfLong(of, age) };
}

function requireObject(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw new Error('an answer is a resource');
  return value;
}
