/** A minute of the soak, and what it costs in memory. Run with `--expose-gc`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { soak } from './soak.js';
import { SOAK_FAULTS } from './soak_faults.js';

const MIB = 1024 * 1024;
const MINUTE = 60_000;

/** How much more may be in use in the last third than in the plateau of the second sixth: what is under way differs from look to look. */
const MARGIN_MIB = 8;
/** How much more than at the start may be in use once all is over: code, and what undici and Node keep of their own. */
const LEFT_MIB = 12;

function used(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / MIB;
}

test('Five hundred streams at a time for a minute settle as they should, and memory is what it was', async (t) => {
  assert.ok(globalThis.gc, 'needs --expose-gc');
  const seed = Number(process.env['SOAK_SEED'] ?? Date.now() % 2 ** 31);
  // What the process grows by once is no matter of how long it runs.
  await soak({ seed, streams: 500, milliseconds: 2000 });
  const before = used();
  const looks: number[] = [];
  let wait = 0;
  const { calls, total, wrong, server } = await soak({
    seed,
    streams: 500,
    milliseconds: MINUTE,
    watch: () => {
      // Collecting takes its time: every fourth look is enough.
      if (wait++ % 4 === 0) looks.push(used());
    },
  });
  const after = used();
  const sixth = Math.floor(looks.length / 6);
  const plateau = Math.min(...looks.slice(sixth, 2 * sixth));
  const late = Math.min(...looks.slice(-2 * sixth));
  const inUse = [before, plateau, late, after].map((mib) => mib.toFixed(1)).join(', ');
  t.diagnostic(`seed ${seed}: ${total} calls; MiB before, in the plateau, late, and after: ${inUse}`);
  assert.deepEqual(wrong, [], `SOAK_SEED=${seed}`);
  assert.deepEqual([...calls.keys()].sort(), Object.keys(SOAK_FAULTS).sort(), 'every fault was played');
  assert.deepEqual([server.sockets, server.repeated], [0, 0], 'no connection is left, no request came twice');
  assert.ok(looks.length >= 12, `${looks.length} looks`);
  assert.ok(late < plateau + MARGIN_MIB, `${late} MiB after ${plateau}`);
  assert.ok(after < before + LEFT_MIB, `${after} MiB after ${before}`);
});
