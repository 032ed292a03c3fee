import { TaskState, type Task } from '@a2a-js/sdk';
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { delay, follow, type Following, type Patience } from '../../lib/agent/follow.js';
import { Failure, type FailureDetails, type FailureRule } from '../../lib/failure.js';
import type { EventStream, Reply, StreamItem } from '../../lib/index.js';

const PATIENCE: Patience = { maxAttempts: 4, firstDelayMs: 1000, maxDelayMs: 4000 };
const RAW = new Uint8Array(1);

function taskIn(state: TaskState): Task {
  return { id: 't', contextId: 'c', status: { state, message: undefined, timestamp: undefined }, artifacts: [], history: [], metadata: undefined };
}
const WORKING = taskIn(TaskState.TASK_STATE_WORKING);
const COMPLETED = taskIn(TaskState.TASK_STATE_COMPLETED);
const INPUT = taskIn(TaskState.TASK_STATE_INPUT_REQUIRED);

function failure(rule: FailureRule, details: Partial<FailureDetails> = {}): Failure {
  return new Failure(rule, { delivery: 'answered', ...details });
}

type Script<T> = readonly (T | Failure)[];

/** Subscriptions and looks at the task, each of which ends as its script says, and a log of them and of the waits between. */
function scripted(t: TestContext, streams: Script<readonly (Task | Failure)[]>, tasks: Script<Task>): { following: Following; log: string[] } {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const log: string[] = [];
  const next = <T>(script: Script<T>, at: { index: number }): T => {
    const step = script[at.index++];
    if (step === undefined) throw new Error('The script is over');
    if (step instanceof Failure) throw step;
    return step;
  };
  const streamAt = { index: 0 };
  const taskAt = { index: 0 };
  const following: Following = {
    subscribe: async () => {
      log.push('subscribe');
      const steps = next(streams, streamAt);
      // eslint-disable-next-line @typescript-eslint/require-await
      const items = (async function* (): AsyncGenerator<StreamItem, undefined> {
        for (const step of steps) {
          if (step instanceof Failure) throw step;
          yield { event: { $case: 'task', value: step }, raw: RAW, id: undefined };
        }
        return undefined;
      })();
      return Promise.resolve(items as unknown as EventStream);
    },
    timeLeft: () => undefined,
    getTask: () => {
      log.push('get');
      return new Promise<Reply<Task>>((resolve) => {
        resolve({ result: next(tasks, taskAt), raw: RAW });
      });
    },
  };
  return { following, log };
}

/** Drives the clock while the events are read: a wait is over as soon as there is one. */
async function outcome(t: TestContext, following: Following, signal = new AbortController().signal): Promise<string[]> {
  const seen: string[] = [];
  const reading = (async () => {
    try {
      for await (const { event } of follow(following, PATIENCE, signal)) {
        seen.push(event.$case === 'task' ? TaskState[event.value.status!.state].replace('TASK_STATE_', '') : event.$case);
      }
      seen.push('end');
    } catch (error) {
      seen.push(error instanceof Failure ? error.rule : String(error));
    }
  })();
  // Each turn of a script takes a few turns of the loop: what is not over after so many never is.
  for (let turn = 0; turn < 300; turn++) {
    t.mock.timers.tick(PATIENCE.maxDelayMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.race([reading, new Promise((resolve) => setImmediate(resolve))]);
  return seen;
}

describe('A task that is followed', () => {
  test('is subscribed to once where nothing fails', async (t) => {
    const { following, log } = scripted(t, [[WORKING, COMPLETED]], []);
    assert.deepEqual(await outcome(t, following), ['WORKING', 'COMPLETED', 'end']);
    assert.deepEqual(log, ['subscribe']);
  });

  test('is looked at and subscribed to again where the stream fails as unavailable', async (t) => {
    const { following, log } = scripted(t, [[WORKING, failure('http.truncated')], [WORKING, COMPLETED]], [WORKING]);
    assert.deepEqual(await outcome(t, following), ['WORKING', 'WORKING', 'COMPLETED', 'end']);
    assert.deepEqual(log, ['subscribe', 'get', 'subscribe']);
  });

  test('is over where it ended meanwhile', async (t) => {
    const { following, log } = scripted(t, [[WORKING, failure('stream.incomplete')]], [COMPLETED]);
    assert.deepEqual(await outcome(t, following), ['WORKING', 'COMPLETED', 'end']);
    assert.deepEqual(log, ['subscribe', 'get']);
  });

  test('that has ended already, and that the agent lets nobody subscribe to, is looked at', async (t) => {
    const { following, log } = scripted(t, [failure('remote.error', { code: -32004 })], [COMPLETED]);
    assert.deepEqual(await outcome(t, following), ['COMPLETED', 'end']);
    assert.deepEqual(log, ['subscribe', 'get']);
  });

  test('that goes on, but that the agent lets nobody subscribe to, is the agent\'s error', async (t) => {
    const { following, log } = scripted(t, [failure('remote.error', { code: -32004 })], [WORKING]);
    assert.deepEqual(await outcome(t, following), ['remote.error']);
    assert.deepEqual(log, ['subscribe', 'get']);
  });

  test('that there is none of is the agent\'s error', async (t) => {
    const none = failure('remote.error', { code: -32001 });
    const { following } = scripted(t, [none], [none]);
    assert.deepEqual(await outcome(t, following), ['remote.error']);
  });

  test('is subscribed to again while it waits for input, as others may give it', async (t) => {
    const { following, log } = scripted(t, [[WORKING, failure('http.connection_lost')], [INPUT]], [INPUT]);
    assert.deepEqual(await outcome(t, following), ['WORKING', 'INPUT_REQUIRED', 'end']);
    assert.deepEqual(log, ['subscribe', 'get', 'subscribe']);
  });

  test('is given up after so many failures in a row, looks at it included', async (t) => {
    const lost = failure('http.connect', { delivery: 'not_sent' });
    const { following, log } = scripted(t, [[WORKING, lost]], [lost, lost, lost, lost]);
    assert.deepEqual(await outcome(t, following), ['WORKING', 'http.connect']);
    assert.deepEqual(log, ['subscribe', 'get', 'get', 'get']);
  });

  test('that makes headway between failures is not given up', async (t) => {
    const step = [WORKING, WORKING, failure('http.truncated')];
    const { following } = scripted(t, [...Array.from({ length: 10 }, () => step), [COMPLETED]], Array.from({ length: 10 }, () => WORKING));
    assert.equal((await outcome(t, following)).at(-1), 'end');
  });

  test('that only says where it stands before each failure is given up', async (t) => {
    const step = [WORKING, failure('http.truncated')];
    const { following, log } = scripted(t, Array.from({ length: 10 }, () => step), Array.from({ length: 10 }, () => WORKING));
    assert.equal((await outcome(t, following)).at(-1), 'http.truncated');
    assert.equal(log.filter((call) => call === 'subscribe').length, PATIENCE.maxAttempts);
  });

  const LASTING: readonly [string, Failure][] = [
    ['a broken rule', failure('json.syntax')],
    ['a clock', failure('deadline.idle')],
    ['the caller\'s signal', failure('canceled.signal')],
    ['a redirect', failure('http.redirect', { status: 302 })],
    ['a status that says no', failure('http.status', { status: 401 })],
    ['a bound', failure('limit.event_bytes')],
  ];
  for (const [name, lasting] of LASTING) {
    test(`is given up at once for ${name}`, async (t) => {
      const { following, log } = scripted(t, [[WORKING, lasting]], []);
      assert.deepEqual(await outcome(t, following), ['WORKING', lasting.rule]);
      assert.deepEqual(log, ['subscribe']);
    });
  }

  for (const status of [408, 425, 429, 500, 503]) {
    test(`is not given up for a ${status}`, async (t) => {
      const { following } = scripted(t, [failure('http.status', { status }), [COMPLETED]], [WORKING]);
      assert.deepEqual(await outcome(t, following), ['COMPLETED', 'end']);
    });
  }

  test('is left alone for as long as a retry-after asks', async (t) => {
    const { following, log } = scripted(t, [failure('http.status', { status: 503, retryAfterMs: 60_000 }), [COMPLETED]], [WORKING]);
    const events = follow(following, PATIENCE, new AbortController().signal);
    const first = events.next();
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(59_999);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(log, ['subscribe']);
    t.mock.timers.tick(1);
    assert.equal((await first).value?.event.$case, 'task');
    assert.deepEqual(log, ['subscribe', 'get', 'subscribe']);
  });

  test('waits longer with each failure, within its bounds, and not always as long', (t) => {
    const random = t.mock.method(Math, 'random', () => 0.5);
    const waits = (): number[] => [1, 2, 3, 4, 50].map((attempts) => delay(attempts, PATIENCE));
    assert.deepEqual(waits(), [500, 1000, 2000, 2000, 2000]);
    random.mock.mockImplementation(() => 0);
    assert.deepEqual(waits(), [0, 0, 0, 0, 0]);
  });

  test('is let go in the middle of a wait by a signal', async (t) => {
    const { following, log } = scripted(t, [failure('http.connect')], []);
    const controller = new AbortController();
    const reading = follow(following, PATIENCE, controller.signal).next();
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new DOMException('late', 'TimeoutError'));
    await assert.rejects(reading, (error) => error instanceof Failure && error.rule === 'deadline.signal');
    assert.deepEqual(log, ['subscribe']);
  });
});
