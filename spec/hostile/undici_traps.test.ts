/**
 * What undici does that surprises, in child processes: none of it crashes one, hangs one, or keeps one from ending. See traps.ts.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('traps.ts', import.meta.url));

interface Run {
  /** What each scenario printed. */
  readonly outcomes: ReadonlyMap<string, unknown>;
  readonly code: unknown;
  readonly stderr: string;
}

/** A child process that runs some scenarios, one after the other. */
function child(scenarios: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', SCRIPT, ...scenarios], { timeout: 20_000, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      const lines = stdout.split('\n').filter((line) => line !== '');
      resolve({
        outcomes: new Map(lines.map((line) => JSON.parse(line) as [string, unknown])),
        code: error === null ? 0 : (error.code ?? error.signal),
        stderr,
      });
    });
  });
}

const each = <T>(outcome: T): Record<string, T> => ({ chunked: outcome, delimited: outcome, lengthy: outcome });

interface Trap {
  readonly sentence: string;
  readonly expected: unknown;
}

/** Scenarios that share a process. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, Trap>>>> = {
  'Held back on a connection that will close,': {
    'paused-then-reset': {
      sentence: 'a reset is a cut, behind the events that came',
      expected: {
        chunked: ['events, http.truncated answered, ok', 'events, http.truncated answered, ok'],
        // Where only the close delimits, a reset is seen or looks like one: it is no end of the stream either way.
        delimited: ['events, cut, ok', 'events, cut, ok'],
        lengthy: ['events, http.truncated answered, ok', 'events, http.truncated answered, ok'],
      },
    },
    'paused-then-closed': {
      sentence: 'a close is a cut, behind the events that came',
      expected: {
        chunked: ['events, http.truncated answered, ok', 'events, http.truncated answered, ok'],
        delimited: ['events, cut, ok', 'events, cut, ok'],
        lengthy: ['events, http.truncated answered, ok', 'events, http.truncated answered, ok'],
      },
    },
    'paused-then-canceled-then-reset': {
      sentence: 'a cancellation before the reset is the end',
      expected: each(['canceled.signal answered', 'done', 'ok']),
    },
    'paused-in-the-last-packet': { sentence: 'in its last packet, all of it is read', expected: each(['40 ok', 'ok']) },
  },
  'A stream that is resumed': {
    'resumed-from-an-interceptor': { sentence: 'from an interceptor, inside the end of another call, goes on', expected: ['ok', '200 ok'] },
    'resumed-from-a-consumer': { sentence: 'from the consumer of another stream goes on', expected: [['ok', 'ok'], 200] },
    'resumed-from-within-the-parser': {
      sentence: 'from within the parser of another response goes on',
      expected: ['ok', ['false', 'false', 'false'], '197 ok'],
    },
    're-entered': { sentence: 'and called back before that returns is in order', expected: [2001, true] },
  },
  'An end': {
    'ended-from-within-the-parser': {
      sentence: "inside a callback, of one's own and of another's, is an end",
      expected: ['canceled.signal answered', 'done', 'ok'],
    },
    'canceled-in-the-head-from-within-the-parser': { sentence: 'inside the head is an end', expected: each(['canceled.signal', 'ok']) },
    'refused-in-the-head': { sentence: 'by a refusal in the head of a whole answer in one packet is one', expected: each(['http.content_type answered, ok']) },
    'refused-in-the-body': { sentence: 'by a refusal in the body of a whole answer in one packet is one', expected: each(['limit.response_bytes answered, ok']) },
    'refused-in-an-event': { sentence: 'by a refusal in an event of a whole stream in one packet is one', expected: each(['0 sse.field answered, ok']) },
  },
  'When all is over': {
    'a-consumer-that-throws': { sentence: 'because a consumer threw, the connection is let go of', expected: [[[1, true], [2, true], [50, true]], true, 'ok'] },
    'a-hundred-early-ends': { sentence: 'a moment before the agent closes, its connection serves the next stream', expected: [['2 ok'], true, true] },
    'ends-of-all-kinds-at-once': {
      sentence: 'in many ways at once, each end is its own',
      expected: [
        ['ok', 'http.connection_lost unknown', 'event'],
        ['canceled.signal unknown', 'canceled.signal answered'],
      ],
    },
    'nothing-left': { sentence: 'clocks of an hour keep nobody', expected: ['ok', 'canceled.signal unknown'] },
  },
};

/** Of what only the close delimits, both ways to see a cut. */
function normalized(outcome: unknown): unknown {
  // A scenario that did not come to its end has no outcome.
  return JSON.parse(JSON.stringify(outcome ?? null).replace(/"delimited":\[[^\]]*\]/g, (list) => list.replaceAll(/(?:http\.truncated|stream\.incomplete) answered/g, 'cut')));
}

describe('In a process of their own,', { concurrency: 2 }, () => {
  const groups = Object.entries(GROUPS);
  // To start one takes longer than most scenarios: two groups share a process.
  for (const shared of [groups.slice(0, 2), groups.slice(2)]) {
    test(shared.map(([group]) => group).join('; '), async (t) => {
      const { outcomes, code, stderr } = await child(shared.flatMap(([, traps]) => Object.keys(traps)));
      for (const [group, traps] of shared) {
        for (const [name, { sentence, expected }] of Object.entries(traps)) {
          await t.test(`${group} ${sentence}`, () => {
            assert.deepEqual(normalized(outcomes.get(name)), expected, stderr === '' ? undefined : stderr);
          });
        }
      }
      await t.test('The process ends by itself, in peace', () => {
        assert.deepEqual([code, stderr], [0, '']);
      });
    });
  }
});
