/**
 * What the end of the legacy flow means at a moment: a pure decision from the operators' terms and the time.
 *
 * Deprecation is told in headers (https://www.rfc-editor.org/rfc/rfc9745#section-2, structured-field date `@seconds`), the
 * end too (https://www.rfc-editor.org/rfc/rfc8594#section-3, HTTP-date), both with a link to the operator's page about the
 * migration (https://www.rfc-editor.org/rfc/rfc9745#section-3, https://www.rfc-editor.org/rfc/rfc8594#section-6).
 */

/** For whom a term was set; null: for all. */
interface TermScope {
  /** Number of the firm. */
  readonly firm: number | null;
  /** Number of the application. */
  readonly application: number | null;
}

export interface SunsetTerm extends TermScope {
  readonly deprecatedAtMs: number;
  /** Null: no end is announced. Never before `deprecatedAtMs` (RFC 9745 §4). */
  readonly sunsetAtMs: number | null;
  /** Absolute URL of a page for people; printable ASCII that may stand between angle brackets. */
  readonly link: string;
}

/** The legacy flow is refused from `startsAtMs` until before `endsAtMs`. */
export interface BrownOutTerm extends TermScope {
  readonly startsAtMs: number;
  readonly endsAtMs: number;
}

/** All terms that fit a caller. */
export interface LegacyTerms {
  readonly sunsets: readonly SunsetTerm[];
  readonly brownOuts: readonly BrownOutTerm[];
}

export const noTerms: LegacyTerms = { sunsets: [], brownOuts: [] };

export type LegacyDecision = {
  /** Deprecation, Sunset and Link of every answer; empty when nothing is announced. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the decision may be another one, ms since 1970; infinite when time alone changes nothing. */
  readonly changesAtMs: number;
  readonly link?: string;
} & (
  | { readonly kind: 'open' }
  | { readonly kind: 'brown-out'; readonly endsAtMs: number; readonly sunsetAtMs: number | null }
  | { readonly kind: 'ended'; readonly endedAtMs: number }
);

/** The headers that a decision may set. */
export const legacyHeaderNames = ['deprecation', 'sunset', 'link'] as const;

/**
 * Whether the legacy flow is open at `nowMs`. Of several sunsets the narrowest counts: that of firm and application, of the
 * application, of the firm, of the environment. Brown-outs add up; those that follow each other without a gap are one.
 */
export function decideLegacy(terms: LegacyTerms, nowMs: number): LegacyDecision {
  const sunset = narrowest(terms.sunsets);
  const sunsetAtMs = sunset?.sunsetAtMs ?? null;
  const announced = { headers: sunset ? headersOf(sunset) : {}, ...(sunset ? { link: sunset.link } : {}) };
  if (sunsetAtMs !== null && nowMs >= sunsetAtMs)
    return { kind: 'ended', endedAtMs: sunsetAtMs, changesAtMs: Number.POSITIVE_INFINITY, ...announced };
  const endsAtMs = endOfBrownOut(terms.brownOuts, nowMs);
  const laterMs = [sunsetAtMs, ...terms.brownOuts.map((each) => each.startsAtMs)].filter(
    (ms) => ms !== null && ms > nowMs,
  );
  if (endsAtMs === undefined)
    return { kind: 'open', changesAtMs: Math.min(...laterMs.map(Number), Number.POSITIVE_INFINITY), ...announced };
  // A brown-out that the sunset overtakes has no return.
  return {
    kind: 'brown-out',
    endsAtMs,
    sunsetAtMs,
    changesAtMs: Math.min(endsAtMs, sunsetAtMs ?? endsAtMs),
    ...announced,
  };
}

/** The terms that a caller may know of who has not proved to be of the firm; nor of an application where none is given. */
export function filterTermsWithoutFirm(terms: LegacyTerms, application: number | null): LegacyTerms {
  const fits = (term: TermScope): boolean =>
    term.firm === null && (term.application === null || term.application === application);
  return { sunsets: terms.sunsets.filter(fits), brownOuts: terms.brownOuts.filter(fits) };
}

function narrowest(sunsets: readonly SunsetTerm[]): SunsetTerm | undefined {
  const width = (term: TermScope): number => (term.application === null ? 2 : 0) + (term.firm === null ? 1 : 0);
  return sunsets.toSorted((left, right) => width(left) - width(right))[0];
}

function endOfBrownOut(brownOuts: readonly BrownOutTerm[], nowMs: number): number | undefined {
  let endsAtMs: number | undefined;
  for (const { startsAtMs, endsAtMs: end } of brownOuts.toSorted((left, right) => left.startsAtMs - right.startsAtMs)) {
    if (startsAtMs <= (endsAtMs ?? nowMs) && end > (endsAtMs ?? nowMs)) endsAtMs = end;
  }
  return endsAtMs;
}

function headersOf({ deprecatedAtMs, sunsetAtMs, link }: SunsetTerm): Record<string, string> {
  const deprecation = { deprecation: `@${Math.floor(deprecatedAtMs / 1000)}` };
  if (sunsetAtMs === null) return { ...deprecation, link: `<${link}>; rel="deprecation"` };
  return {
    ...deprecation,
    sunset: new Date(sunsetAtMs).toUTCString(),
    link: `<${link}>; rel="deprecation", <${link}>; rel="sunset"`,
  };
}
