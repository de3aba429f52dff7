/**
 * What the end of the legacy flow means at a moment, as a table: RFC 9745 and RFC 8594 for the headers, brown-outs by the
 * clock, the narrowest sunset first.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type BrownOutTerm,
  decideLegacy,
  filterTermsWithoutFirm,
  type LegacyTerms,
  type SunsetTerm,
} from '../../../src/oauth/legacy/sunset.ts';

const deprecatedAtMs = Date.UTC(2026, 5, 24);
const sunsetAtMs = Date.UTC(2027, 5, 30, 12);
const link = 'https://example.com/migrate';
const never = Number.POSITIVE_INFINITY;

const all = { firm: null, application: null };
const sunset: SunsetTerm = { ...all, deprecatedAtMs, sunsetAtMs, link };
const endless: SunsetTerm = { ...sunset, sunsetAtMs: null };
const brownOut = (startsAtMs: number, endsAtMs: number): BrownOutTerm => ({ ...all, startsAtMs, endsAtMs });

const announced = {
  link,
  headers: {
    deprecation: '@1782259200',
    sunset: 'Wed, 30 Jun 2027 12:00:00 GMT',
    link: `<${link}>; rel="deprecation", <${link}>; rel="sunset"`,
  },
};
const withoutEnd = { link, headers: { deprecation: '@1782259200', link: `<${link}>; rel="deprecation"` } };
const silent = { headers: {} };

const table: readonly (readonly [name: string, terms: Partial<LegacyTerms>, nowMs: number, decision: object])[] = [
  ['nothing is set', {}, 0, { kind: 'open', changesAtMs: never, ...silent }],
  ['ended, to the millisecond', { sunsets: [sunset] }, sunsetAtMs, ended()],
  ['ended long ago', { sunsets: [sunset] }, sunsetAtMs + 1e10, ended()],
  ['ended in a brown-out', { sunsets: [sunset], brownOuts: [brownOut(0, never)] }, sunsetAtMs, ended()],
  [
    'the last millisecond',
    { sunsets: [sunset] },
    sunsetAtMs - 1,
    { kind: 'open', changesAtMs: sunsetAtMs, ...announced },
  ],
  ['deprecated', { sunsets: [sunset] }, deprecatedAtMs, { kind: 'open', changesAtMs: sunsetAtMs, ...announced }],
  ['to be deprecated', { sunsets: [sunset] }, 0, { kind: 'open', changesAtMs: sunsetAtMs, ...announced }],
  ['no end announced', { sunsets: [endless] }, sunsetAtMs, { kind: 'open', changesAtMs: never, ...withoutEnd }],
  ['before a brown-out', { brownOuts: [brownOut(5, 9)] }, 4, { kind: 'open', changesAtMs: 5, ...silent }],
  ['its first millisecond', { brownOuts: [brownOut(5, 9)] }, 5, paused(9)],
  ['its last millisecond', { brownOuts: [brownOut(5, 9)] }, 8, paused(9)],
  ['its end', { brownOuts: [brownOut(5, 9)] }, 9, { kind: 'open', changesAtMs: never, ...silent }],
  ['several, before the first', { brownOuts: [brownOut(7, 9), brownOut(5, 6)] }, 4, open(5)],
  ['several, between two', { brownOuts: [brownOut(7, 9), brownOut(5, 6)] }, 6, open(7)],
  ['two that follow each other', { brownOuts: [brownOut(7, 9), brownOut(5, 7)] }, 5, paused(9)],
  ['one inside another', { brownOuts: [brownOut(6, 7), brownOut(5, 9)] }, 6, paused(9)],
  ['one that reaches over another', { brownOuts: [brownOut(5, 7), brownOut(6, 9)] }, 5, paused(9)],
  [
    'a brown-out of what is deprecated',
    { sunsets: [sunset], brownOuts: [brownOut(5, 9)] },
    5,
    { kind: 'brown-out', endsAtMs: 9, sunsetAtMs, changesAtMs: 9, ...announced },
  ],
  [
    'a brown-out that the end overtakes',
    { sunsets: [sunset], brownOuts: [brownOut(5, sunsetAtMs + 5)] },
    5,
    { kind: 'brown-out', endsAtMs: sunsetAtMs + 5, sunsetAtMs, changesAtMs: sunsetAtMs, ...announced },
  ],
];

function ended(): object {
  return { kind: 'ended', endedAtMs: sunsetAtMs, changesAtMs: never, ...announced };
}

function paused(endsAtMs: number): object {
  return { kind: 'brown-out', endsAtMs, sunsetAtMs: null, changesAtMs: endsAtMs, ...silent };
}

function open(changesAtMs: number): object {
  return { kind: 'open', changesAtMs, ...silent };
}

for (const [name, terms, nowMs, decision] of table) {
  test(`the legacy flow when ${name}`, () => {
    assert.deepEqual(decideLegacy({ sunsets: [], brownOuts: [], ...terms }, nowMs), decision);
  });
}

test('of several sunsets the narrowest counts, also when it ends later or not at all', () => {
  const scopes = [
    { firm: 1, application: 2 },
    { firm: null, application: 2 },
    { firm: 1, application: null },
    { firm: null, application: null },
  ];
  const terms = scopes.map((scope, index) => ({ ...endless, ...scope, link: `https://example.com/${index}` }));
  for (let first = 0; first < terms.length; first += 1) {
    for (const sunsets of [terms.slice(first), terms.slice(first).reverse()])
      assert.equal(decideLegacy({ sunsets, brownOuts: [] }, 0).link, `https://example.com/${first}`);
  }
  const extended = decideLegacy({ sunsets: [sunset, { ...endless, firm: 1 }], brownOuts: [] }, sunsetAtMs);
  assert.equal(extended.kind, 'open');
});

test('who has not proved to be of a firm knows nothing of its terms, nor of those of another application', () => {
  const scopes = [all, { firm: 1, application: null }, { firm: null, application: 2 }, { firm: 1, application: 2 }];
  const terms: LegacyTerms = {
    sunsets: scopes.map((scope) => ({ ...sunset, ...scope })),
    brownOuts: scopes.map((scope) => ({ ...brownOut(5, 9), ...scope })),
  };
  const known = (application: number | null): (number | null)[][] => {
    const { sunsets, brownOuts } = filterTermsWithoutFirm(terms, application);
    return [sunsets, brownOuts].map((each) => each.map((term) => term.firm ?? term.application));
  };
  assert.deepEqual(known(null), [[null], [null]]);
  assert.deepEqual(known(3), [[null], [null]]);
  assert.deepEqual(known(2), [
    [null, 2],
    [null, 2],
  ]);
});
