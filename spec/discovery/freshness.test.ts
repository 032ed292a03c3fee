import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freshnessOf, isSameTag, validatorsOf, type ResponseHeaders } from '../../lib/discovery/freshness.js';

const NOW = Date.UTC(2026, 10, 30, 12, 0, 0);
const at = (seconds: number): string => new Date(NOW + seconds * 1000).toUTCString();
const DAY = 24 * 60 * 60;

/** How many seconds a response is fresh from when it came; `no` where it may not be kept, `?` where its headers say nothing. */
function freshFor(headers: ResponseHeaders, tookMs = 0): number | 'no' | '?' {
  const { isStorable, lifetimeMs, ageMs } = freshnessOf(headers, NOW - tookMs, NOW);
  if (!isStorable) return 'no';
  return lifetimeMs === undefined ? '?' : Math.max(lifetimeMs - ageMs, 0) / 1000;
}

describe('A response is fresh', () => {
  const rows: [what: string, headers: ResponseHeaders, seconds: number | 'no' | '?'][] = [
    ['for its max-age', { 'cache-control': 'max-age=60' }, 60],
    ['for its max-age among other directives', { 'cache-control': 'public, max-age=60, must-revalidate' }, 60],
    ['for its max-age in another case and quoted', { 'cache-control': 'Max-Age="60"' }, 60],
    ['for its max-age on a second line', { 'cache-control': ['public', 'max-age=60'] }, 60],
    ['for its max-age beside what a shared cache is told', { 'cache-control': 's-maxage=600, max-age=60, proxy-revalidate' }, 60],
    ['for its max-age beside private', { 'cache-control': 'private, max-age=60' }, 60],
    ['for its max-age rather than until it expires', { 'cache-control': 'max-age=60', date: at(0), expires: at(600) }, 60],
    ['for a day at most', { 'cache-control': 'max-age=99999999999999999999' }, DAY],
    ['for a day at most until it expires', { date: at(0), expires: at(100 * DAY) }, DAY],
    ['until it expires, from its date', { date: at(0), expires: at(90) }, 90],
    ['until it expires, from when it came where it has no date', { expires: at(90) }, 90],
    ['not at all where it expired before it was made', { date: at(0), expires: at(-1) }, 0],
    ['not at all where it expires at no date', { date: at(0), expires: '0' }, 0],
    ['not at all where it expires twice', { date: at(0), expires: [at(90), at(90)] }, 0],
    ['for less by its age', { 'cache-control': 'max-age=60', age: '20' }, 40],
    ['not at all where it is older', { 'cache-control': 'max-age=60', age: '61' }, 0],
    ['not at all where its age is none', { 'cache-control': 'max-age=60', age: 'old' }, 0],
    ['not at all where its age is negative', { 'cache-control': 'max-age=60', age: '-5' }, 0],
    ['not at all where it has two ages', { 'cache-control': 'max-age=60', age: ['1', '1'] }, 0],
    ['for less by the time since its date', { 'cache-control': 'max-age=60', date: at(-15) }, 45],
    ['for less by the greater of both', { 'cache-control': 'max-age=60', date: at(-15), age: '20' }, 40],
    ['for no more where its date is to come', { 'cache-control': 'max-age=60', date: at(1000) }, 60],
    ['for its max-age where its date is none', { 'cache-control': 'max-age=60', date: 'today' }, 60],
    ['not at all with no-cache', { 'cache-control': 'no-cache, max-age=60' }, 0],
    ['not at all with no-cache for a header', { 'cache-control': 'max-age=60, no-cache="etag"' }, 0],
    ['not at all with a max-age of zero', { 'cache-control': 'max-age=0' }, 0],
    ['not at all with a max-age that is none', { 'cache-control': 'max-age=soon' }, 0],
    ['not at all with a negative max-age', { 'cache-control': 'max-age=-1' }, 0],
    ['not at all with a max-age that is empty', { 'cache-control': 'max-age' }, 0],
    ['not at all with a fraction of a second', { 'cache-control': 'max-age=1.5' }, 0],
    ['not at all with a max-age that is malformed', { 'cache-control': 'max-age= 60' }, 0],
    ['not at all with two that differ', { 'cache-control': 'max-age=60, max-age=600' }, 0],
    ['for a max-age that is there twice', { 'cache-control': 'max-age=60, max-age=60' }, 60],
    ['not at all with directives that say nothing of it', { 'cache-control': 'public' }, 0],
    ['for a time that nobody knows without headers', {}, '?'],
    ['for a time that nobody knows with validators alone', { etag: '"a"', 'last-modified': at(-10 * DAY) }, '?'],
    ['never, and is not kept, with no-store', { 'cache-control': 'max-age=60, no-store' }, 'no'],
    ['never, and is not kept, with no-store in another case', { 'cache-control': 'No-Store' }, 'no'],
    ['never, and is not kept, if it varies by everything', { 'cache-control': 'max-age=60', vary: '*' }, 'no'],
    ['never, and is not kept, if it varies by everything and more', { 'cache-control': 'max-age=60', vary: ['accept', 'origin, *'] }, 'no'],
    ['for its max-age if it varies by request headers', { 'cache-control': 'max-age=60', vary: 'A2A-Version, authorization' }, 60],
  ];
  for (const [what, headers, seconds] of rows) {
    test(what, () => {
      assert.equal(freshFor(headers), seconds);
    });
  }

  test('for less by the time that it took to come', () => {
    assert.equal(freshFor({ 'cache-control': 'max-age=60' }, 10_000), 50);
    assert.equal(freshFor({ 'cache-control': 'max-age=60', age: '20' }, 10_000), 30);
  });

  test('for its max-age where the clock was put back while it came', () => {
    assert.equal(freshFor({ 'cache-control': 'max-age=60' }, -10_000), 60);
  });
});

describe('A validator', () => {
  test('is an entity tag or a date, once, and otherwise none', () => {
    const tag = (etag: string | string[]): string | undefined => validatorsOf({ etag }).etag;
    for (const good of ['"a"', 'W/"a"', '""', '"a,b"', '"!#~"']) assert.equal(tag(good), good);
    for (const bad of ['a', '"a', 'w/"a"', '"a" ,', '"a"b"', '"a b"', '"\u00e9"', '', ['"a"', '"a"']]) assert.equal(tag(bad), undefined, String(bad));
    const modified = (value: string | string[]): string | undefined => validatorsOf({ 'last-modified': value }).lastModified;
    for (const good of [at(0), 'Monday, 30-Nov-26 12:00:00 GMT', 'Mon Nov 30 12:00:00 2026']) assert.equal(modified(good), good);
    for (const bad of ['now', '2026-11-30T12:00:00Z', at(0).replace('30 Nov', '31 Nov'), [at(0), at(0)]]) assert.equal(modified(bad), undefined, String(bad));
  });

  test('is the same, weak or strong', () => {
    assert.ok(isSameTag('W/"a"', '"a"') && isSameTag('"a"', 'W/"a"') && isSameTag('"a"', '"a"'));
    assert.ok(!isSameTag('"a"', '"b"') && !isSameTag('"W/a"', '"a"'));
  });
});
