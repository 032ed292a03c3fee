import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryStore } from '../../lib/discovery/store.js';
import type { StoredCard } from '../../lib/discovery/index.js';

/** A card that counts for so many bytes. */
function stored(bytes: number): StoredCard {
  return { json: 'x'.repeat(bytes - 2), url: 'u', etag: 'e', storedAt: 0, freshUntil: 0, lifetimeMs: 0 };
}

function kept(store: MemoryStore, ...keys: string[]): string {
  return keys.filter((key) => store.get(key) !== undefined).join('');
}

describe('The store in memory', () => {
  test('forgets the card that was not used for the longest time when there are too many', () => {
    const store = new MemoryStore(3, 1000);
    for (const key of ['a', 'b', 'c']) store.set(key, stored(10));
    assert.ok(store.get('a'));
    store.set('d', stored(10));
    assert.equal(kept(store, 'a', 'b', 'c', 'd'), 'acd');
  });

  test('forgets as many as it takes to keep within its bytes, and fits exactly', () => {
    const store = new MemoryStore(100, 100);
    for (const key of ['a', 'b', 'c', 'd']) store.set(key, stored(25));
    assert.equal(kept(store, 'a', 'b', 'c', 'd'), 'abcd');
    store.set('e', stored(51));
    assert.equal(kept(store, 'a', 'b', 'c', 'd', 'e'), 'de');
  });

  test('does not keep a card that is larger than all of it, nor the one it was to replace', () => {
    const store = new MemoryStore(100, 100);
    store.set('a', stored(50));
    store.set('b', stored(50));
    store.set('a', stored(101));
    assert.equal(kept(store, 'a', 'b'), 'b');
  });

  test('counts bytes, not characters, and not twice', () => {
    const store = new MemoryStore(100, 100);
    store.set('a', { ...stored(2), json: '€'.repeat(32) });
    for (let times = 0; times < 10; times++) store.set('b', stored(2));
    assert.equal(kept(store, 'a', 'b'), 'ab');
    store.delete('b');
    store.delete('b');
    store.set('c', stored(2));
    assert.equal(kept(store, 'a', 'c'), 'ac');
    store.set('d', stored(2));
    assert.equal(kept(store, 'a', 'c', 'd'), 'cd');
  });
});
