/**
 * How streams end: every ending at every moment, over real sockets. The iterator settles once, nothing is left behind, and the
 * connection serves the next call or is closed at once.
 */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { after, afterEach, before, describe, test } from 'node:test';
import {
  Failure,
  RemoteError,
  Role,
  userText,
  type EventStream,
  type FailureRule,
  type ProtocolVersion,
  type SendMessageInput,
  type StreamItem,
  type StreamOptions,
} from '../../lib/index.js';
import { Peer, closePeers, type PeerCall } from './peer.js';
import { DIALECTS, artifact, message, status, task } from './results.js';
import { runChild } from './child.js';

// ---- What must never happen, in any test of this file ----

const unhandled: unknown[] = [];
const note = (reason: unknown): void => {
  unhandled.push(reason);
};
process.on('unhandledRejection', note);
afterEach(async () => {
  await turn();
  await turn();
  assert.deepEqual(unhandled, [], 'nothing is unhandled');
});
after(() => process.off('unhandledRejection', note));
after(closePeers);

/** For a suite: a test that waits in vain fails. */
const LIMIT = { timeout: 30_000 };

/** Timers that would keep the process alive. */
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

/** How soon `at once` is; well below the wait after the end. */
const AT_ONCE_MS = 180;
/** The longest that the wait after the end may take to show. */
const WAITED_MS = 1500;
/** The clock of a caller who sets one: long enough to get to the moment, on a busy machine too; and behind the end shorter than the wait there. */
const clockFor = (moment: Moment): number => (isAfterEnd(moment) ? 150 : 500);

// ---- The moments ----

const MOMENTS = ['before the head', 'after the head', 'inside an event', 'between events', 'after the end event'] as const;
type Moment = (typeof MOMENTS)[number];

/** How many events have been delivered at the moment. */
const DELIVERED: Readonly<Record<Moment, number>> = {
  'before the head': 0,
  'after the head': 0,
  'inside an event': 1,
  'between events': 1,
  'after the end event': 2,
};

async function reach(moment: Moment, call: PeerCall, dialect: ProtocolVersion): Promise<void> {
  if (moment !== 'before the head') call.head();
  if (DELIVERED[moment] > 0) call.event(task(dialect, 'working'));
  if (moment === 'inside an event') {
    await call.arrived();
    call.half(artifact(dialect, 'a chunk'));
  }
  if (moment === 'after the end event') call.event(status(dialect, 'completed', { final: true }));
  await call.arrived();
}

/** Gets to where a whole event may be sent. */
function ready(moment: Moment, call: PeerCall): void {
  if (moment === 'before the head') call.head();
  call.rest();
}

function endEvent(moment: Moment, dialect: ProtocolVersion): object {
  return DELIVERED[moment] === 0 ? task(dialect, 'completed') : status(dialect, 'completed', { final: true });
}

// ---- The endings ----

interface Scene {
  readonly moment: Moment;
  readonly dialect: ProtocolVersion;
  readonly call: PeerCall;
  readonly stream: EventStream;
  readonly controller: AbortController;
}

/** `left`: the agent closed it. */
type Connection = 'reused' | 'closed at once' | 'closed after the wait' | 'left';

interface Expectation {
  readonly ends: 'well' | FailureRule;
  readonly connection: Connection;
  /** Events that come between the moment and the end. */
  readonly more?: number;
}

interface Ending {
  readonly name: string;
  readonly moments?: readonly Moment[];
  readonly options?: (controller: AbortController, moment: Moment) => Partial<StreamOptions>;
  /** Who ends: the consumer from its loop, the consumer from beside it, or the agent. */
  readonly act: 'break' | 'throw' | ((scene: Scene) => unknown);
  /** Whether the consumer waits for a next event at the moment. */
  readonly waits?: false;
  readonly expect: (moment: Moment) => Expectation;
}

const isAfterEnd = (moment: Moment): boolean => moment === 'after the end event';
const IN_LOOP: readonly Moment[] = ['inside an event', 'between events', 'after the end event'];
const ERROR = { error: { code: -32_001, message: 'no such task', data: { taskId: 'task-1' } } };
const half = (moment: Moment): number => (moment === 'inside an event' ? 1 : 0);

/** The consumer leaves: all is well; after the end event the agent has its time to close. */
const left = (moment: Moment): Expectation => ({
  ends: 'well',
  connection: isAfterEnd(moment) ? 'closed after the wait' : 'closed at once',
});
/** A cause beside the stream: once the end event was delivered, it can only cut the wait short. */
const stopped =
  (rule: FailureRule) =>
  (moment: Moment): Expectation => ({ ends: isAfterEnd(moment) ? 'well' : rule, connection: 'closed at once' });
const lost = (moment: Moment): Expectation => {
  if (isAfterEnd(moment)) return { ends: 'well', connection: 'left' };
  return { ends: moment === 'before the head' ? 'http.connection_lost' : 'http.truncated', connection: 'left' };
};

const ENDINGS: readonly Ending[] = [
  {
    name: 'The end event, and then the close',
    act: ({ moment, call, dialect }) => {
      ready(moment, call);
      if (!isAfterEnd(moment)) call.event(endEvent(moment, dialect));
      call.end();
    },
    expect: (moment) => ({ ends: 'well', connection: 'reused', more: half(moment) + (isAfterEnd(moment) ? 0 : 1) }),
  },
  {
    name: 'The end event without the close',
    act: ({ moment, call, dialect }) => {
      ready(moment, call);
      if (!isAfterEnd(moment)) call.event(endEvent(moment, dialect));
    },
    expect: (moment) => ({ ends: 'well', connection: 'closed after the wait', more: half(moment) + (isAfterEnd(moment) ? 0 : 1) }),
  },
  {
    name: 'The close of an agent that needs input',
    moments: ['before the head', 'after the head', 'inside an event', 'between events'],
    act: ({ moment, call, dialect }) => {
      ready(moment, call);
      call.event(task(dialect, 'input-required')).end();
    },
    expect: (moment) => ({ ends: 'well', connection: 'reused', more: half(moment) + 1 }),
  },
  {
    name: 'The close of an agent that still works',
    act: ({ moment, call }) => {
      if (moment === 'before the head') call.head();
      call.end();
    },
    expect: (moment) => {
      if (isAfterEnd(moment)) return { ends: 'well', connection: 'reused' };
      return { ends: moment === 'inside an event' ? 'sse.truncated' : 'stream.incomplete', connection: 'reused' };
    },
  },
  { name: 'A break', moments: IN_LOOP, act: 'break', waits: false, expect: left },
  { name: 'A throw in the loop body', moments: IN_LOOP, act: 'throw', waits: false, expect: left },
  { name: 'A return()', moments: IN_LOOP, waits: false, act: ({ stream }) => stream.return(), expect: left },
  { name: 'A return() while a next() is pending', act: ({ stream }) => stream.return(), expect: left },
  {
    name: 'A disposal while a next() is pending',
    act: ({ stream }) => stream[Symbol.asyncDispose](),
    expect: left,
  },
  {
    name: 'An abort',
    act: ({ controller }) => {
      controller.abort();
    },
    expect: stopped('canceled.signal'),
  },
  {
    name: 'An abort by a timeout',
    options: (controller, moment) => ({ signal: AbortSignal.any([controller.signal, AbortSignal.timeout(clockFor(moment))]) }),
    act: () => undefined,
    expect: stopped('deadline.signal'),
  },
  { name: 'timeoutMs', options: (_, moment) => ({ timeoutMs: clockFor(moment) }), act: () => undefined, expect: stopped('deadline.total') },
  {
    name: 'idleTimeoutMs',
    options: (_, moment) => ({ idleTimeoutMs: clockFor(moment) }),
    act: () => undefined,
    expect: (moment) =>
      isAfterEnd(moment) ? { ends: 'well', connection: 'closed after the wait' } : { ends: 'deadline.idle', connection: 'closed at once' },
  },
  {
    name: 'A reset',
    act: ({ call }) => {
      call.reset();
    },
    expect: lost,
  },
  {
    name: 'A response that is cut before its last chunk',
    act: ({ call }) => {
      call.cut();
    },
    expect: lost,
  },
  {
    name: 'A malformed event',
    act: ({ moment, call }) => {
      ready(moment, call);
      call.chunk('id: 77\ndata: {"jsonrpc":\n\n');
    },
    expect: (moment) => ({ ends: 'json.syntax', connection: 'closed at once', more: half(moment) }),
  },
  {
    name: 'A malformed line',
    moments: ['before the head', 'after the head', 'inside an event', 'between events'],
    act: ({ moment, call }) => {
      ready(moment, call);
      call.chunk('retry: 5\n');
    },
    expect: (moment) => ({ ends: 'sse.field', connection: 'closed at once', more: half(moment) }),
  },
  {
    name: "The agent's error in the stream",
    act: ({ moment, call }) => {
      ready(moment, call);
      call.chunk(call.frame(ERROR));
    },
    expect: (moment) => ({ ends: 'remote.error', connection: 'closed at once', more: half(moment) }),
  },
  {
    name: 'An event named error',
    act: ({ moment, call }) => {
      ready(moment, call);
      call.chunk(call.frame(ERROR, 'event: error\n'));
    },
    expect: (moment) => ({ ends: 'remote.error', connection: 'closed at once', more: half(moment) }),
  },
  {
    name: "The agent's error in place of a stream",
    moments: ['before the head'],
    act: ({ call }) => call.json(ERROR),
    expect: () => ({ ends: 'remote.error', connection: 'reused' }),
  },
];

const OWN = new Error('of the loop body');

class Watch {
  readonly items: StreamItem[] = [];
  /** What each `next()` that was no event gave: `done`, or an error. */
  readonly outcomes: unknown[] = [];
  #arrived: (() => void) | undefined;

  /** Resolves once so many events have come. */
  async seen(count: number): Promise<void> {
    while (this.items.length < count) await new Promise<void>((resolve) => (this.#arrived = resolve));
  }

  add(item: StreamItem): void {
    this.items.push(item);
    this.#arrived?.();
  }

  /** Asks until the stream is over, or `count` events have come. */
  async ask(stream: EventStream, count = Infinity): Promise<void> {
    try {
      while (this.items.length < count) {
        const { done, value } = await stream.next();
        if (done === true) {
          this.outcomes.push('done');
          return;
        }
        this.add(value);
      }
    } catch (error) {
      this.outcomes.push(error);
    }
  }
}

async function play(ending: Ending, moment: Moment, dialect: ProtocolVersion): Promise<void> {
  const expected = ending.expect(moment);
  const controller = new AbortController();
  const { signal } = controller;
  await using peer = await Peer.listen();
  const stream = peer.stream(dialect, { signal, ...ending.options?.(controller, moment) });
  const watch = new Watch();
  const delivered = DELIVERED[moment];
  let reached: Promise<unknown> = Promise.resolve();
  const { act } = ending;

  // The consumer.
  let consumed: Promise<void>;
  if (typeof act === 'string') {
    let arrive: () => void = () => undefined;
    reached = new Promise<void>((resolve) => (arrive = resolve));
    const moveOn = peer.call();
    consumed = (async () => {
      try {
        for await (const item of stream) {
          watch.add(item);
          if (watch.items.length < delivered) continue;
          await reached;
          if (act === 'break') break;
          throw OWN;
        }
        watch.outcomes.push('done');
      } catch (error) {
        watch.outcomes.push(error);
      }
    })();
    const call = await moveOn;
    await reach(moment, call, dialect);
    await watch.seen(delivered);
    arrive();
    await settle(consumed);
    assert.equal(watch.items.length, delivered);
    assert.deepEqual(watch.outcomes, [act === 'break' ? 'done' : OWN]);
    await checkAfter(peer, call, stream, signal, expected, dialect);
    return;
  }
  consumed = watch.ask(stream, ending.waits === false ? delivered : Infinity);
  const call = await peer.call();
  await reach(moment, call, dialect);
  await watch.seen(delivered);

  const ended = act({ moment, dialect, call, stream, controller });
  await settle(consumed);
  const result: unknown = await ended;
  if (ending.name.includes('return()')) assert.deepEqual(result, { done: true, value: undefined });
  if (ending.waits === false) await watch.ask(stream);

  assert.equal(watch.items.length, delivered + (expected.more ?? 0), 'the events that came before the end');
  const [outcome, ...others] = watch.outcomes;
  assert.deepEqual(others, [], 'it settles once');
  if (expected.ends === 'well') {
    assert.equal(outcome instanceof Failure ? outcome.rule : outcome, 'done');
  } else {
    assert.ok(outcome instanceof Failure, String(outcome));
    assert.equal(outcome.rule, expected.ends);
    const isUnanswered =
      expected.ends === 'http.connection_lost' || (moment === 'before the head' && /^(deadline|canceled)/.test(expected.ends));
    assert.equal(outcome.delivery, isUnanswered ? 'unknown' : 'answered');
    if (expected.ends === 'remote.error') {
      assert.equal(outcome.code, -32_001);
      const cause = outcome.unwrap();
      assert.ok(cause instanceof RemoteError);
      assert.equal(cause.message, 'no such task');
      assert.deepEqual(cause.data, { taskId: 'task-1' });
    }
  }
  await checkAfter(peer, call, stream, signal, expected, dialect);
}

/** What an end is waited for at most; far more than any should take. */
async function settle(consumed: Promise<void>): Promise<void> {
  const stop = new AbortController();
  const late = sleep(3000, 'late', { signal: stop.signal }).catch(() => 'stopped');
  assert.equal(await Promise.race([consumed.then(() => 'settled'), late]), 'settled', 'the consumer is told of the end');
  stop.abort();
}

async function checkAfter(
  peer: Peer,
  call: PeerCall,
  stream: EventStream,
  signal: AbortSignal,
  { connection }: Expectation,
  dialect: ProtocolVersion,
): Promise<void> {
  for (let i = 0; i < 3; i++) assert.deepEqual(await stream.next(), { done: true, value: undefined });
  assert.deepEqual(await stream.return(), { done: true, value: undefined });
  assert.equal(getEventListeners(signal, 'abort').length, 0, 'no listener is left');
  switch (connection) {
    case 'closed at once':
      assert.ok(await call.gone(AT_ONCE_MS), 'the connection is closed at once');
      break;
    case 'closed after the wait':
      assert.ok(await call.gone(WAITED_MS), 'the connection is closed after the wait');
      break;
    case 'reused': {
      // undici takes a connection for free a turn after the response has ended.
      await turn();
      await turn();
      const next = peer.client.call(peer.options(dialect), 'Ping');
      const second = await peer.call();
      second.json({ result: {} });
      await next;
      assert.equal(second.connection, call.connection, 'the connection serves the next call');
      assert.equal(peer.connections, 1);
      break;
    }
    case 'left':
      break;
  }
}

for (const ending of ENDINGS) {
  describe(ending.name, { ...LIMIT, concurrency: true }, () => {
    let timersBefore = 0;
    before(() => {
      timersBefore = timers();
    });
    for (const moment of ending.moments ?? MOMENTS) {
      for (const dialect of DIALECTS) {
        test(`${moment} (${dialect})`, () => play(ending, moment, dialect));
      }
    }
    after(() => {
      assert.equal(timers(), timersBefore, 'no timer is left');
    });
  });
}

// ---- After the end event ----

describe('After the end event', LIMIT, () => {
  for (const leaves of ['break', 'return()'] as const) {
    test(`a consumer that leaves by ${leaves} is not kept waiting, and an agent that closes soon keeps its connection`, async () => {
      await using peer = await Peer.listen();
      const stream = peer.stream('1.0');
      const left = (async () => {
        if (leaves === 'return()') {
          await stream.next();
          await stream.return();
        } else {
          for await (const _ of stream) break;
        }
        return performance.now();
      })();
      const call = await peer.call();
      const startedAt = performance.now();
      call.head().event(task('1.0', 'completed'));
      const took = (await left) - startedAt;
      assert.ok(took < AT_ONCE_MS, `${took} ms`);
      await sleep(30);
      call.end();
      await call.arrived();
      await turn();
      const next = peer.client.call(peer.options('1.0'), 'Ping');
      const second = await peer.call();
      second.json({ result: {} });
      await next;
      assert.equal(peer.connections, 1);
    });
  }

  test('the event is delivered before the wait, and the wait takes about a quarter of a second', async () => {
    await using peer = await Peer.listen();
    const stream = peer.stream('1.0');
    const first = stream.next();
    const call = await peer.call();
    const startedAt = performance.now();
    call.head().event(task('1.0', 'completed'));
    assert.equal((await first).done, false);
    const delivered = performance.now() - startedAt;
    assert.ok(delivered < AT_ONCE_MS, `delivered after ${delivered} ms`);
    assert.equal((await stream.next()).done, true);
    const waited = performance.now() - startedAt;
    assert.ok(waited > 230 && waited < WAITED_MS, `done after ${waited} ms`);
  });

  test('a restated end is delivered, and does not make the wait longer', async () => {
    await using peer = await Peer.listen();
    const stream = peer.stream('1.0');
    const watch = new Watch();
    const consumed = watch.ask(stream);
    const call = await peer.call();
    const startedAt = performance.now();
    call.head().event(task('1.0', 'completed'));
    for (let i = 0; i < 4; i++) {
      await sleep(50);
      call.event(status('1.0', 'completed'));
    }
    await consumed;
    const waited = performance.now() - startedAt;
    assert.deepEqual(watch.outcomes, ['done']);
    assert.equal(watch.items.length, 5);
    assert.ok(waited > 230 && waited < 430, `done after ${waited} ms`);
    assert.ok(await call.gone(AT_ONCE_MS));
  });

  const half: readonly [string, string][] = [
    ['noise', ': bye\n\n\n:'],
    ['half an event', 'id: 9\ndata: {"jsonrpc"'],
    ['a whole data line', 'id: 9\ndata: {"jsonrpc":"2.0"}\n'],
    ['a line that is no field', 'retry: 5\n'],
    ['a comment longer than an event may be', ':'.repeat(2000)],
    ['more comments than an event may have', ': noise\n\n'.repeat(300)],
  ];
  for (const [name, text] of half) {
    for (const closes of [true, false]) {
      test(`${name} is no event, whether the agent closes (${closes})`, async () => {
        await using peer = await Peer.listen();
        const watch = new Watch();
        const consumed = watch.ask(peer.stream('1.0', { maxEventBytes: 1000 }));
        const call = await peer.call();
        call.head().event(task('1.0', 'completed')).chunk(text);
        if (closes) call.end();
        await settle(consumed);
        assert.deepEqual(watch.outcomes, ['done']);
        assert.equal(watch.items.length, 1);
      });
    }
  }

  const whole: readonly [FailureRule, string, (call: PeerCall) => string][] = [
    ['stream.after_end', 'work', (call) => call.frame({ result: status('1.0', 'working') })],
    ['stream.after_end', 'an artifact', (call) => call.frame({ result: artifact('1.0', 'x') })],
    ['stream.message_only', 'a message', (call) => call.frame({ result: message('1.0') })],
    ['remote.error', 'an error', (call) => call.frame(ERROR)],
    ['json.syntax', 'no JSON', () => 'id: 9\ndata: x\n\n'],
    ['sse.data_lines', 'no data', () => 'id: 9\n\n'],
    ['sse.id_missing', 'no id', () => 'data: x\n\n'],
    ['sse.id_duplicate', 'an id that was there before', () => 'id: 1\ndata: x\n\n'],
    ['sse.field', 'a line that is no field', () => 'id: 9\nretry: 5\ndata: x\n\n'],
  ];
  for (const [rule, name, frame] of whole) {
    test(`a whole further event is refused: ${name}`, async () => {
      await using peer = await Peer.listen();
      const watch = new Watch();
      const consumed = watch.ask(peer.stream('1.0'));
      const call = await peer.call();
      call.head().event(task('1.0', 'completed'));
      await sleep(30);
      for (const byte of frame(call)) call.chunk(byte);
      await settle(consumed);
      assert.equal(watch.items.length, 1);
      const [failure] = watch.outcomes;
      assert.ok(failure instanceof Failure, `it ended ${String(failure)}`);
      assert.equal(failure.rule, rule);
    });
  }
});

for (const [when, closeAfter] of [
  ['with it', -1],
  ['a turn later', 0],
  ['8 ms later', 8],
] as const) {
  test(`A hundred streams in sequence, each ended by its end event and closed ${when}, use one connection`, LIMIT, async () => {
    await using peer = await Peer.listen((call) => {
      call.head().event(task('1.0', 'working')).event(artifact('1.0', 'x')).event(status('1.0', 'completed'));
      if (closeAfter < 0) call.end();
      else if (closeAfter === 0) setImmediate(() => call.end());
      else setTimeout(() => call.end(), closeAfter);
    });
    for (let i = 0; i < 100; i++) {
      let events = 0;
      for await (const _ of peer.stream('1.0')) events++;
      assert.equal(events, 3);
    }
    assert.equal(peer.connections, 1);
  });
}

describe('A response that said that it closes', LIMIT, () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n';
  const cuts: readonly [string, (call: PeerCall) => void][] = [
    [
      'closed',
      (call) => {
        call.cut();
      },
    ],
    [
      'reset',
      (call) => {
        call.reset();
      },
    ],
  ];
  for (const [name, cut] of cuts) {
    for (const [where, event] of [
      ['between events', ''],
      ['inside an event', 'id: 2\nda'],
    ] as const) {
      test(`and is ${name} ${where}, before its last chunk, is cut short and no other fault`, async () => {
        await using peer = await Peer.listen();
        const watch = new Watch();
        const consumed = watch.ask(peer.stream('1.0'));
        const call = await peer.call();
        call.head(head).event(task('1.0', 'working'));
        if (event !== '') call.chunk(event);
        await sleep(20);
        cut(call);
        await settle(consumed);
        assert.equal(watch.items.length, 1);
        const [failure] = watch.outcomes;
        assert.ok(failure instanceof Failure);
        assert.equal(failure.rule, 'http.truncated');
      });
    }
  }

  test('and ends with its last chunk has ended well', async () => {
    await using peer = await Peer.listen((call) => {
      call.head(head).event(task('1.0', 'completed')).end().socket.end();
    });
    const watch = new Watch();
    await watch.ask(peer.stream('1.0'));
    assert.deepEqual(watch.outcomes, ['done']);
    assert.equal(watch.items.length, 1);
  });
});

// ---- The iterator ----

describe('The iterator', LIMIT, () => {
  test('takes next() several times without waiting, and answers in order', async () => {
    for (const dialect of DIALECTS) {
      await using peer = await Peer.listen();
      const stream = peer.stream(dialect);
      const order: number[] = [];
      const asked = Array.from({ length: 7 }, (_, i) =>
        stream.next().then((result) => {
          order.push(i);
          return result.done === true ? 'done' : result.value.id;
        }),
      );
      const call = await peer.call();
      call.head().event(task(dialect, 'working')).event(artifact(dialect, 'x'));
      await call.arrived();
      call
        .event(artifact(dialect, 'y'))
        .event(status(dialect, 'completed', { final: true }))
        .end();
      assert.deepEqual(await Promise.all(asked), ['1', '2', '3', '4', 'done', 'done', 'done']);
      assert.deepEqual(order, [0, 1, 2, 3, 4, 5, 6]);
    }
  });

  test('gives a failure to the first next() that it meets, and done to all behind it', async () => {
    await using peer = await Peer.listen();
    const stream = peer.stream('1.0');
    const asked = Promise.allSettled(Array.from({ length: 5 }, () => stream.next()));
    const call = await peer.call();
    call.head().event(task('1.0', 'working')).chunk('bad\n');
    const seen = (await asked).map((result) => {
      if (result.status === 'rejected') return result.reason instanceof Failure ? result.reason.rule : String(result.reason);
      return result.value.done === true ? 'done' : result.value.value.id;
    });
    assert.deepEqual(seen, ['1', 'sse.field', 'done', 'done', 'done']);
  });

  test('gives done to all pending next() when return() is called, in order', async () => {
    await using peer = await Peer.listen();
    const stream = peer.stream('1.0');
    const order: string[] = [];
    const asked = Array.from({ length: 3 }, (_, i) => stream.next().then((result) => order.push(`next ${i} ${String(result.done)}`)));
    const call = await peer.call();
    const returned = [stream.return(), stream.return()].map((result, i) =>
      result.then(({ done }) => order.push(`return ${i} ${String(done)}`)),
    );
    await Promise.all([...asked, ...returned]);
    assert.deepEqual(order, ['next 0 true', 'next 1 true', 'next 2 true', 'return 0 true', 'return 1 true']);
    assert.ok(await call.gone(AT_ONCE_MS));
  });

  test('is its own iterator, and one alone', async () => {
    await using peer = await Peer.listen();
    const stream = peer.stream('1.0');
    assert.equal(stream[Symbol.asyncIterator](), stream);
    const first = stream.next();
    const call = await peer.call();
    call.head().event(task('1.0', 'working')).event(artifact('1.0', 'x')).event(status('1.0', 'completed')).end();
    await first;
    const ids: unknown[] = [];
    for await (const { id } of stream) ids.push(id);
    assert.deepEqual(ids, ['2', '3']);
    for await (const _ of stream) assert.fail('it has ended');
    assert.equal(peer.connections, 1);
  });

  test('delivers what came before a failure, then the failure, however late it is asked', async () => {
    const failing: readonly [FailureRule, (call: PeerCall) => unknown][] = [
      ['json.syntax', (call) => call.chunk('id: 9\ndata: {\n\n')],
      ['sse.field', (call) => call.chunk('nothing: 1\n')],
      ['remote.error', (call) => call.chunk(call.frame(ERROR, 'event: error\n'))],
      ['stream.identity', (call) => call.event(artifact('1.0', 'x', { taskId: 'task-2' }))],
      ['stream.incomplete', (call) => call.end()],
      [
        'http.truncated',
        (call) => {
          call.cut();
        },
      ],
      [
        'http.truncated',
        (call) => {
          call.reset();
        },
      ],
      ['deadline.idle', () => undefined],
    ];
    for (const [rule, fail] of failing) {
      await using peer = await Peer.listen();
      const stream = peer.stream('1.0', rule === 'deadline.idle' ? { idleTimeoutMs: 120 } : {});
      const first = stream.next();
      const call = await peer.call();
      call.head().event(task('1.0', 'working')).event(artifact('1.0', 'x')).event(artifact('1.0', 'y'));
      await first;
      await call.arrived();
      fail(call);
      await sleep(rule === 'deadline.idle' ? 250 : 20);
      const watch = new Watch();
      await watch.ask(stream);
      assert.deepEqual(
        watch.items.map(({ id }) => id),
        ['2', '3'],
        rule,
      );
      const [failure] = watch.outcomes;
      assert.ok(failure instanceof Failure);
      assert.equal(failure.rule, rule);
      assert.equal((await stream.next()).done, true);
    }
  });

  test('does not report a failure that nobody asked for, and forgets it on return()', async () => {
    await using peer = await Peer.listen();
    const stream = peer.stream('1.0');
    const first = stream.next();
    const call = await peer.call();
    call.head().event(task('1.0', 'working'));
    await first;
    call.reset();
    await sleep(20);
    assert.equal((await stream.return()).done, true);
    assert.equal((await stream.next()).done, true);
  });

  test('is disposed of by a call of Symbol.asyncDispose', async () => {
    await using peer = await Peer.listen();
    const stream = peer.stream('1.0');
    const first = stream.next();
    const call = await peer.call();
    call.head().event(task('1.0', 'working'));
    await first;
    await stream[Symbol.asyncDispose]();
    assert.ok(await call.gone(AT_ONCE_MS));
    assert.equal((await stream.next()).done, true);
    await stream[Symbol.asyncDispose]();
  });

  test('is disposed of by await using, also where the block throws', async () => {
    await using peer = await Peer.listen((call) => call.head().event(task('1.0', 'working')));
    const calls: EventStream[] = [];
    await assert.rejects(async () => {
      await using stream = peer.stream('1.0');
      calls.push(stream);
      assert.equal((await stream.next()).done, false);
      throw OWN;
    }, OWN);
    assert.equal((await calls[0]?.next())?.done, true);
  });

  test('is lazy: a stream that is not asked sends nothing, and one that is returned first never does', async () => {
    await using peer = await Peer.listen();
    peer.stream('1.0');
    const returned = peer.stream('1.0');
    assert.deepEqual(await returned.return(), { done: true, value: undefined });
    assert.deepEqual(await returned.next(), { done: true, value: undefined });
    const disposed = peer.stream('0.3');
    await disposed[Symbol.asyncDispose]();
    assert.equal((await disposed.next()).done, true);
    await sleep(30);
    assert.equal(peer.connections, 0);
  });

  test('has clocks that start at its first next()', async () => {
    await using peer = await Peer.listen((call) => call.head().event(task('1.0', 'completed')).end());
    const stream = peer.stream('1.0', { timeoutMs: 150, connectTimeoutMs: 150, idleTimeoutMs: 150 });
    await sleep(250);
    let events = 0;
    for await (const _ of stream) events++;
    assert.equal(events, 1);
  });
});

describe('Wrong options reject at the first next(), and nothing is sent before it', LIMIT, () => {
  const wrong: readonly [FailureRule, Record<string, unknown>, SendMessageInput?][] = [
    ['options.limit', { maxEventBytes: undefined }],
    ['options.limit', { maxEventBytes: 0 }],
    ['options.limit', { maxEventBytes: NaN }],
    ['options.limit', { maxStreamBytes: -1 }],
    ['options.limit', { maxStreamEvents: 1.5 }],
    ['options.limit', { maxResponseBytes: '1' }],
    ['options.dialect', { eventIds: 'any' }],
    ['options.dialect', { protocolVersion: '2.0' }],
    ['options.endpoint', { endpoint: 'ftp://127.0.0.1/' }],
    ['options.time', { timeoutMs: 0 }],
    ['options.signal', { signal: {} }],
    ['options.headers', { headers: { accept: 'text/plain' } }],
    ['options.unknown', { maxEvents: 1 }],
    ['request.params', {}, { message: { messageId: '', role: Role.ROLE_USER, parts: [] } }],
    ['request.bytes', { maxRequestBytes: 10 }],
  ];
  for (const [rule, options, params] of wrong) {
    test(`${rule}: ${JSON.stringify(params ?? options)}`, async () => {
      await using peer = await Peer.listen();
      const all: StreamOptions = { ...peer.options('1.0'), ...options };
      const stream = peer.client.sendStreamingMessage(all, params ?? { message: userText('hi') });
      // Nobody asks: nothing is rejected, and so nothing is unhandled.
      await turn();
      assert.deepEqual(unhandled, []);
      await assert.rejects(stream.next(), (error) => error instanceof Failure && error.rule === rule && error.delivery === 'not_sent');
      assert.deepEqual(await stream.next(), { done: true, value: undefined });
      assert.deepEqual(await stream.return(), { done: true, value: undefined });
      assert.equal(peer.connections, 0);
    });
  }

  test('a stream with wrong options that is returned first says nothing', async () => {
    await using peer = await Peer.listen();
    const stream = peer.stream('1.0', { maxEventBytes: 0 });
    assert.equal((await stream.return()).done, true);
    assert.equal((await stream.next()).done, true);
  });

  test('a signal that has aborted before sends nothing', async () => {
    await using peer = await Peer.listen();
    const stream = peer.stream('1.0', { signal: AbortSignal.abort() });
    await assert.rejects(
      stream.next(),
      (error) => error instanceof Failure && error.rule === 'canceled.signal' && error.delivery === 'not_sent',
    );
    assert.equal((await stream.next()).done, true);
    assert.equal(peer.connections, 0);
  });
});

describe('Interceptors', LIMIT, () => {
  test('An `after` that takes its time does not keep the connection of a stream that was left', async () => {
    await using peer = await Peer.listen();
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const stream = peer.stream('1.0', { interceptors: [{ after: () => finished }] });
    const first = stream.next();
    const call = await peer.call();
    call.head().event(task('1.0', 'working'));
    await first;
    const returned = stream.return();
    assert.ok(await call.gone(AT_ONCE_MS), 'the connection is closed at once');
    finish();
    assert.equal((await returned).done, true);
  });

  test('An `after` that throws ends a stream that ended well, behind its events', async () => {
    await using peer = await Peer.listen((call) => call.head().event(task('1.0', 'completed')).end());
    const watch = new Watch();
    await watch.ask(peer.stream('1.0', { interceptors: [{ after: () => Promise.reject(OWN) }] }));
    assert.equal(watch.items.length, 1);
    const [failure] = watch.outcomes;
    assert.ok(failure instanceof Failure);
    assert.equal(failure.rule, 'interceptor.after');
    assert.equal(failure.unwrap(), OWN);
  });
});

// ---- What needs a process of its own ----

describe('In a process of its own', { ...LIMIT, concurrency: true }, () => {
  test('a stream that is dropped without return() does not keep its connection', async () => {
    assert.deepEqual(await runChild('dropped', '--expose-gc'), { closed: true });
  });

  test('a stream of which only a pending next() is held is not dropped', async () => {
    assert.deepEqual(await runChild('awaited', '--expose-gc'), { closed: false, id: '2' });
  });

  test('a process with a stream that has ended, however it did, exits by itself', async () => {
    assert.deepEqual(await runChild('exits'), { ended: ['done', 'done', 'canceled.signal', 'deadline.idle', 'stream.incomplete'] });
  });
});
