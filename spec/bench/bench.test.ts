/** What the benchmark's figures rest on. How fast anything is, no test says: see `npm run bench:guard`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeStream, tokenChunk, unaryResponse } from './bodies.js';
import { floorOf, RATIO_GOALS } from './goals.js';
import { median } from './job.js';
import { svgOf } from './plot.js';
import { growthOf, missed, rowOf, type Results } from './results.js';
import { FULL, GUARD, growthsOf, workloadsOf, type Workload } from './workloads.js';

function workload(name: string): Workload {
  return workloadsOf(FULL).find((each) => each.name === name)!;
}

/** What is in the chunks of a body. */
function dechunked(body: string): string {
  let text = '';
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf('\r\n', at);
    const size = parseInt(body.slice(at, lineEnd), 16);
    if (size === 0) {
      assert.equal(body.slice(at), '0\r\n\r\n');
      return text;
    }
    text += body.slice(lineEnd + 2, lineEnd + 2 + size);
    assert.equal(body.slice(lineEnd + 2 + size, lineEnd + 4 + size), '\r\n');
    at = lineEnd + 4 + size;
  }
}

function resultsIn(stream: string, id: unknown): unknown[] {
  return stream.split('\n\n').slice(0, -1).map((event, i) => {
    const [, number, data] = /^id: (\d+)\ndata: (.*)$/.exec(event)!;
    assert.equal(Number(number), i + 1);
    const message = JSON.parse(data!) as { id: unknown; result: unknown };
    assert.equal(message.id, id);
    return message.result;
  });
}

test('A prepared stream has the id of each request in each of its events, in whole HTTP chunks', () => {
  for (const kind of ['token', 'token-0.3', 'mixed', 'ascii', 'escaped', 'cjk', 4096] as const) {
    for (const perChunk of [1, 7]) {
      // One body serves ids of the same length, another those of another.
      for (const id of [1, 2, 'abc', 'xyz']) {
        const { bytes } = takeStream({ kind, events: 50, perChunk }, JSON.stringify(id));
        // Latin-1, so that a character is a byte, as the sizes of the chunks count.
        const stream = Buffer.from(dechunked(bytes.toString('latin1')), 'latin1').toString();
        assert.equal(resultsIn(stream, id).length, 50);
      }
    }
  }
});

test('A stream that is sent slowly is the same stream', () => {
  const chunks = Array.from({ length: 30 }, (_, i) => tokenChunk(i + 1, 30, '"abc"')).join('');
  const { bytes } = takeStream({ kind: 'token', events: 30, perChunk: 1 }, '"abc"');
  assert.equal(`${chunks}0\r\n\r\n`, bytes.toString('latin1'));
});

test('A prepared answer has the id of its request, and the length that it says', () => {
  for (const id of [7, 8, 12, 'abc']) {
    const [head = '', body = ''] = unaryResponse(JSON.stringify(id)).split('\r\n\r\n');
    assert.equal(Number(/content-length: (\d+)/.exec(head)![1]), body.length);
    assert.equal((JSON.parse(body) as { id: unknown }).id, id);
  }
});

test('No two events of the mixed stream are alike, even without their numbers', () => {
  const { bytes } = takeStream({ kind: 'mixed', events: 3000, perChunk: 20 }, '1');
  const stream = Buffer.from(dechunked(bytes.toString('latin1')), 'latin1').toString();
  const results = resultsIn(stream, 1).map((result) => JSON.stringify(result).replace(/"at":\d+/, ''));
  assert.equal(new Set(results).size, 3000);
});

test('Every goal is a goal of a workload that is measured, by the benchmark and by the guard, and its floor is not above it', () => {
  for (const effort of [FULL, GUARD]) {
    const measured = workloadsOf(effort);
    for (const goal of RATIO_GOALS) {
      const { peers } = measured.find(({ name }) => name === goal.workload)!;
      assert.ok(peers.includes(goal.against));
      assert.ok(floorOf(goal) > 0 && floorOf(goal) < goal.goal);
    }
  }
});

test('A ratio says how many times as good StrictClient is, and a goal is met from its value on', () => {
  const rate = rowOf(workload('unary, 1 at a time'), { numbers: { strict: [180, 10], sdk: [100, 25], undici: [200, 8] }, server: {} });
  assert.deepEqual(rate.figures.map(({ ratios }) => ratios), [
    { sdk: 1.8, undici: 0.9 },
    { sdk: 2.5, undici: 0.8 },
  ]);
  assert.deepEqual(rate.goals.map(({ against, met }) => [against, met]), [['sdk', true], ['undici', false]]);
  const time = rowOf(workload('first event'), { numbers: { strict: [1.1], sdk: [2.2], undici: [1] }, server: {} });
  assert.deepEqual(time.goals.map(({ met }) => met), [true]);
});

test('The memory of a stream is judged by what it takes beyond the socket', () => {
  const others = { sdk: [1, 1, 1], undici: [1, 1, 1], bytes: [1, 30, 1] };
  const met = (strict: number): boolean[] =>
    rowOf(workload('1,000 slow streams'), { numbers: { ...others, strict: [1, strict, 1] }, server: {} }).goals.map((goal) => goal.met);
  assert.deepEqual(met(70), [true]);
  assert.deepEqual(met(70.1), [false]);
});

test('A cost that grows with the square of the size is not linear', () => {
  const [bytes] = growthsOf(FULL);
  const of = (cost: (size: number) => number): boolean =>
    growthOf(bytes!, bytes!.sizes.map(({ size }) => ({ numbers: { strict: [1, cost(size)] }, server: {} }))).linear;
  assert.equal(of((size) => size / 1000), true);
  assert.equal(of((size) => size ** 2), false);
});

test('The median of an even number of values lies between the middle two', () => {
  assert.equal(median([10, 1, 3]), 3);
  assert.equal(median([4, 1, 2, 10]), 3);
});

test('The picture shows each workload, and is well formed whatever the machine is called', () => {
  const row = rowOf(workload('unary, 1 at a time'), { numbers: { strict: [180, 10], sdk: [100, 25], undici: [200, 8] }, server: {} });
  const results: Results = {
    date: '2026-01-02T03:04:05.678Z',
    machine: { cpu: '<CPU> & "more"', cores: 2, memoryGiB: 8, system: 'Linux' },
    versions: { package: '1.2.3', node: '24.0.0', undici: '8.0.0', sdk: '1.0.0' },
    rounds: 9,
    quick: false,
    seconds: 1,
    rows: [row],
    growth: [],
    loads: [],
    packageSize: undefined,
  };
  assert.deepEqual(missed(results), ['unary, 1 at a time: 0.90x undici, goal 1.05x']);
  const svg = svgOf(results);
  for (const wanted of ['unary, 1 at a time', '1.80', '0.90', '2026-01-02', 'a2a-strict 1.2.3', '&lt;CPU&gt; &amp; "more"']) {
    assert.ok(svg.includes(wanted), wanted);
  }
  const open: string[] = [];
  for (const [, end, name, alone] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
    if (end === '/') assert.equal(open.pop(), name);
    else if (alone === '') open.push(name!);
  }
  assert.deepEqual(open, []);
});
