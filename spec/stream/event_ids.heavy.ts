/** What it costs to prove the ids of a very long stream unique. Run with `--expose-gc`. */
import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { test } from 'node:test';
import { Refusal } from '../../lib/failure.js';
import { EventIds } from '../../lib/wire/event_ids.js';

/** What is in use once all that is not has been collected. */
function used(): number {
  // The first finds what is dead, the second waits until the first has freed it.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const pool = Buffer.alloc(16 * 1024);

/** Random UUIDs, one after the other: they themselves are not what is measured. */
function* uuids(count: number): Generator<string> {
  for (let i = 0; i < count; i++) {
    const at = (i * 16) % pool.length;
    if (at === 0) randomFillSync(pool);
    const hex = pool.toString('hex', at, at + 16);
    yield `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}

test('Five million random UUIDs take at most 64 bytes each, at every size', (t) => {
  assert.ok(globalThis.gc, 'needs --expose-gc');
  const ids = new EventIds('required');
  const before = used();
  let count = 0;
  let worst = 0;
  let first = '';
  for (const id of uuids(5_000_000)) {
    if (count === 0) first = id;
    ids.add(id);
    count++;
    // Regularly, and where a table that doubles at three quarters has just done so.
    const isDoubled = Number.isInteger(Math.log2((count - 1) / 3));
    if (count > 50_000 && (isDoubled || count % 250_000 === 0)) worst = Math.max(worst, (used() - before) / count);
  }
  const last = (used() - before) / count;
  t.diagnostic(`${worst.toFixed(1)} bytes an id at worst, ${last.toFixed(1)} at the end`);
  assert.ok(last > 16, 'what is measured is the table');
  assert.ok(worst <= 64, `${worst} bytes an id`);
  assert.throws(() => {
    ids.add(first);
  }, Refusal);
});
