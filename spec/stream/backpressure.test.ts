/** A consumer that is slow holds the agent back: what is read ahead of it is bounded, and nothing is lost or out of order. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Failure, StrictClient, userText, type EventStream, type ProtocolVersion } from '../../lib/index.js';
import { runChild } from './child.js';
import { Peer, closePeers, until, watchData, type PeerCall } from './peer.js';
import { Random } from './random.js';
import { DIALECTS, artifact, status, task } from './results.js';

/** The largest chunk that comes off a socket at once. */
const CHUNK = 64 * 1024;
const AT_ONCE_MS = 180;
/** For a suite: a test that waits in vain fails. */
const LIMIT = { timeout: 30_000 };

after(closePeers);

/** Sends one piece after the other, as fast as the connection takes them; ends where there is none. */
function pump(call: PeerCall, next: () => string | undefined, end: () => void): void {
  const push = (): void => {
    for (;;) {
      if (call.socket.destroyed) return;
      const text = next();
      if (text === undefined) {
        call.socket.off('drain', push);
        end();
        return;
      }
      call.chunk(text);
      if (call.socket.writableNeedDrain) return;
    }
  };
  call.socket.on('drain', push);
  push();
}

const textOf = (event: object): string => JSON.stringify(event).match(/<(\d+)>/)?.[1] ?? '';

/** Works without end. */
function flood(call: PeerCall, dialect: ProtocolVersion, eventBytes: number, eventsAChunk: number): void {
  let n = 0;
  call.head().event(task(dialect, 'working'));
  pump(
    call,
    () => {
      let text = '';
      for (let i = 0; i < eventsAChunk; i++) text += call.frame({ result: artifact(dialect, `<${n++}>${'x'.repeat(eventBytes)}`) });
      return text;
    },
    () => undefined,
  );
}

/** Works for so many events, and is done. */
function finite(call: PeerCall, dialect: ProtocolVersion, events: number, eventBytes: number, end: (call: PeerCall) => void): void {
  let n = 0;
  call.event(task(dialect, 'working'));
  pump(
    call,
    () => {
      if (n > events) return undefined;
      const result = n < events ? artifact(dialect, `<${n}>${'x'.repeat(eventBytes)}`) : status(dialect, 'completed', { final: true });
      n++;
      return call.frame({ result });
    },
    () => {
      end(call);
    },
  );
}

/** A client that counts what undici hands over to it. */
function counted(peer: Peer): { client: StrictClient; count: { bytes: number } } {
  const count = { bytes: 0 };
  const client = new StrictClient(
    watchData(peer.dispatcher, (chunk) => {
      count.bytes += chunk.length;
    }),
  );
  return { client, count };
}

/** Waits until a number no longer changes. */
async function settled(read: () => number): Promise<number> {
  let last = read();
  let since = performance.now();
  await until(() => {
    const now = read();
    if (now !== last) since = performance.now();
    last = now;
    return performance.now() - since > 80;
  });
  return last;
}

describe('A consumer that does not ask holds the agent back', LIMIT, () => {
  const shapes: readonly [string, number, number][] = [
    ['small events, one in each chunk', 100, 1],
    ['small events, fifty in each chunk', 100, 50],
    ['events of 5 kB', 5000, 1],
    ['events of a socket chunk', CHUNK, 1],
    ['events of 300 kB', 300_000, 1],
    ['events of 300 kB, three in each chunk', 300_000, 3],
  ];
  for (const [name, size, group] of shapes) {
    test(`with at most one event and two socket chunks ahead of it: ${name}`, async () => {
      await using peer = await Peer.listen();
      const { client, count } = counted(peer);
      await using stream = client.sendStreamingMessage(peer.options('1.0'), { message: userText('hi') });
      const first = stream.next();
      const call = await peer.call();
      flood(call, '1.0', size, group);
      let consumed = 0;
      let largest = 0;
      for (const asks of [1, 47]) {
        for (let i = 0; i < asks; i++) {
          const { value } = await (consumed === 0 ? first : stream.next());
          const bytes =
            `id: 1\ndata: {"jsonrpc":"2.0","id":"","result":}\n\n`.length + 32 + (value?.id?.length ?? 0) - 1 + (value?.raw.length ?? 0);
          consumed += bytes;
          largest = Math.max(largest, bytes);
        }
        const handed = await settled(() => count.bytes);
        const ahead = handed - consumed;
        assert.ok(ahead <= largest + 2 * CHUNK, `${ahead} bytes ahead, events of ${largest}`);
        // What node:net reads ahead of undici is bounded as well; the rest is in the kernel.
        const read = call.client.bytesRead;
        assert.ok(read - consumed <= largest + 5 * CHUNK, `${read - consumed} bytes read`);
      }
    });
  }

  test('which can no longer write, until the consumer asks again', async () => {
    await using peer = await Peer.listen();
    await using stream = peer.stream('1.0');
    const first = stream.next();
    const call = await peer.call();
    flood(call, '1.0', 5000, 1);
    await first;
    const before = await settled(() => call.socket.bytesWritten);
    assert.ok(call.socket.writableNeedDrain, 'the agent waits');
    // More than all buffers between the two.
    let bytes = 0;
    while (bytes < before) bytes += (await stream.next()).value?.raw.length ?? 0;
    const after = await settled(() => call.socket.bytesWritten);
    assert.ok(after > before + bytes / 2, `${after - before} bytes more`);
    assert.ok(call.socket.writableNeedDrain, 'the agent waits again');
  });

  test('also where its chunks are tiny', async () => {
    const tiny = Buffer.alloc(16_000, '1\r\n:\r\n', 'latin1');
    await using peer = await Peer.listen((call) => {
      call.head().event(task('1.0', 'working'));
      const push = (): void => {
        while (call.socket.write(tiny));
      };
      call.socket.on('drain', push);
      push();
    });
    const { client, count } = counted(peer);
    await using stream = client.sendStreamingMessage(peer.options('1.0'), { message: userText('hi') });
    await stream.next();
    const handed = await settled(() => count.bytes);
    assert.ok(handed <= 3 * CHUNK, `${handed} bytes ahead`);
  });
});

describe('Nothing is lost or out of order', LIMIT, () => {
  async function readAll(stream: EventStream, pause: (n: number) => unknown): Promise<void> {
    let n = -1;
    for await (const { event, id } of stream) {
      assert.equal(id, `${n + 2}`);
      if (event.$case === 'artifactUpdate') assert.equal(textOf(event), `${n}`);
      await pause(n++);
    }
  }

  for (const dialect of DIALECTS) {
    test(`in thirty streams at once, paused and resumed by chance (${dialect})`, async () => {
      const events = 100;
      await using peer = await Peer.listen((call) => {
        call.head();
        finite(call, dialect, events, 3000, () => call.end());
      });
      const random = new Random(5);
      const streams = Array.from({ length: 30 }, () => peer.stream(dialect));
      const counts = await Promise.all(
        streams.map(async (stream) => {
          let count = 0;
          await readAll(stream, () => {
            count++;
            const choice = random.below(40);
            return choice === 0 ? sleep(random.below(8)) : choice < 20 ? turn() : undefined;
          });
          return count;
        }),
      );
      assert.deepEqual(
        counts,
        streams.map(() => events + 2),
      );
    });

    test(`in two streams, where each is asked when the other has answered (${dialect})`, async () => {
      const events = 400;
      await using peer = await Peer.listen((call) => {
        call.head();
        finite(call, dialect, events, 2000, () => call.end());
      });
      const [left, right] = [peer.stream(dialect), peer.stream(dialect)];
      for (let n = 0; n < events + 2; n++) {
        const answers = await Promise.all([left.next().then((answer) => [answer, right.next()] as const)]);
        const [a, b] = answers[0];
        assert.equal(a.value?.id, `${n + 1}`);
        assert.equal((await b).value?.id, `${n + 1}`);
      }
      assert.equal((await left.next()).done, true);
      assert.equal((await right.next()).done, true);
    });
  }

  const KEPT = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n';
  const framings: readonly [string, string, (call: PeerCall) => unknown][] = [
    ['ends with its last chunk', `${KEPT}\r\n`, (call) => call.end()],
    ['ends with its last chunk and closes', `${KEPT}\r\n`, (call) => call.end().socket.end()],
    ['ends with its last chunk and said that it closes', `${KEPT}connection: close\r\n\r\n`, (call) => call.end().socket.end()],
  ];
  for (const [name, head, end] of framings) {
    test(`in a response that ${name} while the consumer is slow`, async () => {
      await using peer = await Peer.listen((call) => {
        call.head(head);
        finite(call, '1.0', 300, 2000, end);
      });
      let count = 0;
      await readAll(peer.stream('1.0'), async (n) => {
        count++;
        if (n === -1) await sleep(150);
        else if (n % 30 === 0) await sleep(2);
      });
      assert.equal(count, 302);
    });
  }

  test('in a response that only the close delimits while the consumer is slow', async () => {
    await using peer = await Peer.listen((call) => {
      call.socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
      let text = call.frame({ result: task('1.0', 'working') });
      for (let n = 0; n < 300; n++) text += call.frame({ result: artifact('1.0', `<${n}>${'x'.repeat(2000)}`) });
      call.socket.end(text + call.frame({ result: status('1.0', 'completed') }));
    });
    let count = 0;
    await readAll(peer.stream('1.0'), async (n) => {
      count++;
      if (n === -1) await sleep(150);
    });
    assert.equal(count, 302);
  });

  test('in chunks of one byte, for a slow consumer and for a quick one', async () => {
    for (const slow of [true, false]) {
      await using peer = await Peer.listen((call) => {
        call.head();
        let text = call.frame({ result: task('1.0', 'working') });
        for (let n = 0; n < 100; n++) text += call.frame({ result: artifact('1.0', `<${n}>äöü🙂${'x'.repeat(100)}`) });
        text += call.frame({ result: status('1.0', 'completed') });
        const pieces = [...Buffer.from(text)].map((byte) => Buffer.from([0x31, 0x0d, 0x0a, byte, 0x0d, 0x0a]));
        call.socket.write(Buffer.concat(pieces));
        call.end();
      });
      let count = 0;
      await readAll(peer.stream('1.0'), (n) => {
        count++;
        return slow && n % 20 === 0 ? sleep(5) : undefined;
      });
      assert.equal(count, 102);
    }
  });
});

describe('A stream that is held back', LIMIT, () => {
  /** A stream that has given one event, and whose agent waits. */
  async function heldBack(peer: Peer, more: Parameters<Peer['stream']>[1] = {}): Promise<[EventStream, PeerCall]> {
    const stream = peer.stream('1.0', more);
    const first = stream.next();
    const call = await peer.call();
    flood(call, '1.0', 5000, 1);
    assert.equal((await first).done, false);
    await until(() => call.socket.writableNeedDrain);
    await sleep(10);
    return [stream, call];
  }

  const isRule = (rule: string) => (error: unknown) => error instanceof Failure && error.rule === rule;

  test('does not run the idle clock out', async () => {
    await using peer = await Peer.listen();
    const [stream] = await heldBack(peer, { idleTimeoutMs: 120 });
    for (let rests = 0; rests < 2; rests++) {
      await sleep(300);
      for (let i = 0; i < 800; i++) {
        assert.equal((await stream.next()).done, false);
        if (i % 20 === 0) await turn();
      }
    }
    await stream.return();
  });

  test('does not run the idle clock out where the process was too busy to read what had come', async () => {
    await using peer = await Peer.listen();
    const stream = peer.stream('1.0', { idleTimeoutMs: 250 });
    const first = stream.next();
    const call = await peer.call();
    call.head().event(task('1.0', 'working'));
    await first;
    const second = stream.next();
    await sleep(10);
    // In the kernel at once; and then nobody looks for a while. Timers come before sockets in the next turn.
    await turn();
    call.event(artifact('1.0', 'x'));
    const busyUntil = performance.now() + 500;
    while (performance.now() < busyUntil);
    assert.equal((await second).done, false);
    await stream.return();
  });

  test('runs the idle clock again once it goes on', async () => {
    await using peer = await Peer.listen();
    const stream = peer.stream('1.0', { idleTimeoutMs: 120 });
    const first = stream.next();
    const call = await peer.call();
    call.head();
    finite(call, '1.0', 100, 5000, () => undefined);
    // The last event is the end; the agent stops before it.
    await first;
    await sleep(300);
    let events = 1;
    await assert.rejects(async () => {
      while (events < 101) {
        assert.equal((await stream.next()).done, false);
        events++;
      }
      assert.equal((await stream.next()).done, false);
      throw new Error('the end event');
    }, /the end event/);
    await stream.return();

    const silent = peer.stream('1.0', { idleTimeoutMs: 120 });
    const begun = silent.next();
    const other = await peer.call();
    other.head().event(task('1.0', 'working'));
    for (let n = 0; n < 40; n++) other.event(artifact('1.0', 'x'.repeat(5000)));
    await begun;
    await sleep(300);
    for (let n = 0; n < 40; n++) assert.equal((await silent.next()).done, false);
    await assert.rejects(silent.next(), isRule('deadline.idle'));
  });

  test('runs the clock of the whole exchange out', async () => {
    await using peer = await Peer.listen();
    const [stream, call] = await heldBack(peer, { timeoutMs: 250 });
    assert.ok(await call.gone(600));
    await assert.rejects(async () => {
      for (;;) await stream.next();
    }, isRule('deadline.total'));
    assert.equal((await stream.next()).done, true);
  });

  test('is closed at once by return(), by break and by an abort', async () => {
    const controller = new AbortController();
    for (const end of ['return', 'break', 'abort'] as const) {
      await using peer = await Peer.listen();
      const [stream, call] = await heldBack(peer, { signal: controller.signal });
      if (end === 'return') await stream.return();
      else if (end === 'break') for await (const _ of stream) break;
      else controller.abort();
      assert.ok(await call.gone(AT_ONCE_MS), end);
      if (end === 'abort') await assert.rejects(stream.next(), isRule('canceled.signal'));
      assert.equal((await stream.next()).done, true);
    }
  });

  test('gives what had come before the agent reset it, and then the failure', async () => {
    await using peer = await Peer.listen();
    const [stream, call] = await heldBack(peer);
    call.reset();
    await sleep(30);
    let events = 1;
    await assert.rejects(async () => {
      for (;;) {
        const { value } = await stream.next();
        events++;
        assert.equal(value?.id, `${events}`);
      }
    }, isRule('http.truncated'));
    assert.ok(events > CHUNK / 2 / 5000, `${events} events`);
    assert.equal((await stream.next()).done, true);
  });
});

describe('In a process of its own', { ...LIMIT, concurrency: true }, () => {
  test('a reset of a response that is held back and closes its connection is a failure, and no crash', async () => {
    assert.deepEqual(await runChild('reset-while-paused'), { rules: ['http.truncated', 'http.truncated'] });
  });

  test('a stream that is asked from within the callback of another goes on, and so does the other', async () => {
    assert.deepEqual(await runChild('resume-inside'), { left: 402, right: 402 });
  });

  test('tiny chunks with long extensions hold no more memory than their bytes', async () => {
    const { grown } = (await runChild('chunk-extensions', '--expose-gc')) as { grown: number };
    assert.ok(grown < 16 * 1024 * 1024, `${grown} bytes for 2000 bytes of a stream`);
  });
});
