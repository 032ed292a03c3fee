/** The table of faults, run: each ends as it says, in time, and leaves nothing open. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { until } from './calls.js';
import { FAULTS, type Fault } from './faults.js';
import { playFault, type CallKind } from './faults_player.js';
import { goodStream, good } from './raw_server.js';
import { warmUp } from './warm.js';

/** Faults at the same time: most of each is waiting. */
const AT_ONCE = { concurrency: 48 };
/** Those that are not keep a processor busy. */
const FEW_AT_ONCE = { concurrency: 6 };

/** What a call could leave behind in this process, counted by kind. */
function census(): Record<string, number> {
  const counts: Record<string, number> = { Timeout: 0, TCPSocketWrap: 0, TCPServerWrap: 0, TLSWrap: 0 };
  for (const name of process.getActiveResourcesInfo()) if (name in counts) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

let start: Record<string, number>;
before(async () => {
  start = census();
  await warmUp();
});

for (const [server, faults] of Object.entries(FAULTS)) {
  describe(server, server.endsWith('floods') ? FEW_AT_ONCE : AT_ONCE, () => {
    for (const fault of faults) {
      for (const kind of ['unary', 'stream'] satisfies CallKind[]) {
        if (fault[kind] === undefined) continue;
        test(`${fault.name} (${kind})`, async () => {
          assert.deepEqual(await playFault(fault, kind), []);
        });
      }
    }
  });
}

test('Nothing of all these calls is left in the process', async () => {
  const isAsBefore = (): boolean => JSON.stringify(census()) === JSON.stringify(start);
  await until(isAsBefore, 'the resources are those of the start').catch(() => undefined);
  assert.deepEqual(census(), start);
});

describe('The player finds', AT_ONCE, () => {
  const answered: Fault = { name: 'none', answer: (socket, { id }) => socket.write(good(id)), unary: 'ok', leaves: 'an idle connection' };
  const silent: Fault = { name: 'none', options: { timeoutMs: 300 }, clockMs: 300, unary: 'deadline_exceeded deadline.total unknown' };
  const { leaves: _, ...leavingNothing } = answered;
  const streamed: Fault = { ...answered, answer: (socket, { id }) => socket.write(goodStream(id)), stream: '3 ok' };
  const stuck: Fault = { ...silent, agent: { connect: () => undefined }, unary: 'deadline_exceeded deadline.total not_sent' };
  const wrong: Readonly<Record<string, [Fault, CallKind, RegExp]>> = {
    'another rule': [{ ...answered, unary: 'protocol json.syntax answered' }, 'unary', /^expected protocol json\.syntax answered; got ok$/],
    'another delivery': [{ ...silent, unary: 'deadline_exceeded deadline.total answered' }, 'unary', /got \S+ deadline\.total unknown$/],
    'another number of events': [streamed, 'stream', /got 2 ok$/],
    'a call that ends before its clock': [{ ...silent, clockMs: 5000 }, 'unary', /^took \d+ ms, with 5000 on the clock$/],
    'a connection that is kept': [leavingNothing, 'unary', /^it never happened that the server sees no connection left$/],
    'a connection that is lost': [{ ...silent, leaves: 'an idle connection' }, 'unary', /^expected an idle connection; there are 0$/],
    'a dispatcher that cannot be closed': [stuck, 'unary', /^it never happened that the dispatcher can be closed$/],
    'a request too many': [{ ...answered, requests: 0 }, 'unary', /^1 requests$/],
  };
  for (const [what, [fault, kind, line]] of Object.entries(wrong)) {
    test(what, async () => {
      const lines = await playFault(fault, kind, 200);
      assert.equal(lines.length, 1, lines.join('\n'));
      assert.match(lines[0] ?? '', line);
    });
  }
});
