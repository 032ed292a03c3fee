import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Refusal } from '../lib/failure.js';
import { Body, bodyRefusal, decodeError } from '../lib/unary.js';
import { readHead } from '../lib/wire/http.js';
import { ResponseDecoder } from '../lib/wire/jsonrpc.js';

const ID = '0123456789abcdef0123456789abcdef';

/** Memory of buffers that is really held. */
function held(): number {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
  gc();
  return process.memoryUsage().arrayBuffers;
}

describe('The body of an answer', () => {
  test('is whole, whatever chunks it came in', () => {
    const text = Buffer.from('{"jsonrpc":"2.0"}');
    for (const size of [1, 5, text.length]) {
      const body = new Body(text.length);
      for (let at = 0; at < text.length; at += size) assert.equal(body.add(text.subarray(at, at + size)), true);
      assert.deepEqual(body.whole(), text);
      assert.equal(body.add(Buffer.from('x')), false);
    }
    assert.deepEqual(new Body(1).whole(), Buffer.alloc(0));
  });

  test('is whole in any mixture of large, small and padded chunks', () => {
    const all = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7 + (i >> 8)) & 0xff));
    for (const sizes of [[1, 20_000, 3], [16_384, 1], [16_383, 2, 40_000], [5_000], [1, 1, 50_000, 1]]) {
      for (const padding of [0, 200_000]) {
        const body = new Body(all.length);
        for (let at = 0, turn = 0; at < all.length; turn++) {
          const chunk = all.subarray(at, at + sizes[turn % sizes.length]!);
          // As undici hands it over: a view of what was read at once.
          const read = Buffer.allocUnsafeSlow(chunk.length + (turn % 2) * padding);
          chunk.copy(read);
          assert.equal(body.add(read.subarray(0, chunk.length)), true);
          at += chunk.length;
        }
        assert.ok(body.whole().equals(all), `${sizes.join()} with ${padding}`);
      }
    }
  });

  test('holds no more memory than its bytes, however large the reads were that they stood in', () => {
    const body = new Body(10_000);
    const before = held();
    for (let i = 0; i < 1000; i++) body.add(Buffer.allocUnsafeSlow(64 * 1024).fill(0x78).subarray(7, 8));
    assert.ok(held() - before < 4 * 1024 * 1024, `${held() - before} bytes for ${body.whole().length}`);
  });
});

describe('The bodies of answers in tiny chunks', () => {
  test('take memory by their bytes, not by their chunks', () => {
    const body = new Body(4_000_000);
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    gc();
    const before = process.memoryUsage();
    const one = Buffer.from('x');
    for (let i = 0; i < 2_000_000; i++) body.add(one.subarray());
    gc();
    const after = process.memoryUsage();
    const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
    assert.ok(grown < 8_000_000, `${grown} bytes for ${body.whole().length}`);
  });
});

describe('An answer', () => {
  test('without a result has bytes of its own, and none of them', () => {
    const decoder = new ResponseDecoder(ID, true);
    const nothing = Buffer.from(`{"jsonrpc":"2.0","id":"${ID}"}`);
    const [one, two] = [decoder.decode(nothing).raw, decoder.decode(nothing).raw];
    assert.deepEqual([one.length, two.length], [0, 0]);
    assert.notEqual(one.buffer, two.buffer);
  });

  test('has its headers trimmed in linear time', () => {
    const time = (size: number): number => {
      const raw = [Buffer.from('content-encoding'), Buffer.from(`a${' '.repeat(size)}b`)];
      let least = Infinity;
      for (let i = 0; i < 5; i++) {
        const from = performance.now();
        for (let run = 0; run < 20; run++) readHead(200, {}, raw);
        least = Math.min(least, performance.now() - from);
      }
      return least;
    };
    time(1000);
    let ratio = Infinity;
    for (let attempt = 0; attempt < 3 && ratio >= 64; attempt++) ratio = time(16_000) / time(1000);
    // 16 where it is linear, 256 where it is quadratic.
    assert.ok(ratio < 64, `sixteen times the header took ${ratio.toFixed(1)} times as long`);
  });
});

describe('A body of which only an error counts', () => {
  const decoder = new ResponseDecoder(ID);
  const error = Buffer.from(`{"jsonrpc":"2.0","id":"${ID}","error":{"code":-32001,"message":"no"}}`);
  const result = Buffer.from(`{"jsonrpc":"2.0","id":"${ID}","result":{}}`);
  const broken = Buffer.from('{');
  const ruleOf = (body: Buffer, whateverElse: boolean): string => {
    try {
      decodeError(body, decoder, { kind: 'error', otherwise: 'http.status', whateverElse });
    } catch (refusal) {
      assert.ok(refusal instanceof Refusal);
      return refusal.rule;
    }
    return 'accepted';
  };

  test('is the error, or the rule that its head broke, or its own', () => {
    assert.deepEqual([error, result, broken].map((body) => ruleOf(body, true)), ['remote.error', 'http.status', 'http.status']);
    assert.deepEqual([error, result, broken].map((body) => ruleOf(body, false)), ['remote.error', 'http.status', 'json.syntax']);
  });

  test('keeps what cut it short as the reason', () => {
    const cut = new Refusal('http.truncated', { reason: 'reset' });
    assert.deepEqual(bodyRefusal({ kind: 'answer' }, cut), cut);
    const kept = bodyRefusal({ kind: 'error', otherwise: 'http.status', whateverElse: true }, cut);
    assert.deepEqual([kept.rule, kept.reason], ['http.status', 'reset']);
  });
});
