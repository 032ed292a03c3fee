/** Five seconds of the soak. `soak.heavy.ts` goes on for a minute, and weighs it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { soak } from './soak.js';
import { SOAK_FAULTS } from './soak_faults.js';

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('Five hundred streams at a time, each with a fault of its own, all settle as they should and leave nothing', async (t) => {
  const seed = Number(process.env['SOAK_SEED'] ?? Date.now() % 2 ** 31);
  const before = timers();
  const { calls, total, wrong, server } = await soak({ seed, streams: 500, milliseconds: 5000 });
  t.diagnostic(`seed ${seed}: ${total} calls`);
  assert.deepEqual(wrong, [], `SOAK_SEED=${seed}`);
  assert.deepEqual([...calls.keys()].sort(), Object.keys(SOAK_FAULTS).sort(), 'every fault was played');
  assert.equal(server.sockets, 0, 'no connection is left');
  assert.equal(server.repeated, 0, 'no request came twice');
  assert.ok(server.requests <= total, 'nor one that nobody made');
  assert.equal(timers(), before, 'no timer is left');
});
