import { TaskState } from '@a2a-js/sdk';
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FailedTask, textPeer, type TextPeerOptions, type TextStream } from '../../lib/text/index.js';
import { failureFrom } from '../support/caller_server.js';
import { Peer, closePeers, until, type PeerCall } from '../stream/peer.js';
import { artifact, message, status, task } from '../stream/results.js';
import { readAll } from './read.js';

after(closePeers);

const working = task('1.0', 'working');
const completed = status('1.0', 'completed');
const chunk = (text: string, append = true): object => {
  const { artifactUpdate } = artifact('1.0', text) as { artifactUpdate: object };
  return { artifactUpdate: { ...artifactUpdate, append } };
};

function ask(agent: Peer, options: TextPeerOptions = {}): TextStream {
  return textPeer(agent.endpoint, { dispatcher: agent.dispatcher, ...options }).stream('hi');
}

/** A stream whose first chunk has been read. */
async function begin(agent: Peer): Promise<{ stream: TextStream; reader: ReadableStreamDefaultReader<string>; call: PeerCall }> {
  const stream = ask(agent);
  const reader = stream.getReader();
  const first = reader.read();
  const call = (await agent.call()).head().event(working).event(chunk('one'));
  assert.deepEqual(await first, { done: false, value: 'one' });
  return { stream, reader, call };
}

describe('A text stream', () => {
  test('gives each chunk as it arrives, and task, context and state as soon as they are known', async () => {
    await using agent = await Peer.listen();
    const stream = ask(agent);
    const known = (): unknown[] => [stream.taskId, stream.contextId, stream.state];
    const reader = stream.getReader();
    let read = reader.read();
    const call = (await agent.call()).head();
    assert.deepEqual(known(), [undefined, undefined, undefined]);
    call.event(working);
    await until(() => stream.taskId !== undefined);
    assert.deepEqual(known(), ['task-1', 'ctx-1', TaskState.TASK_STATE_WORKING]);
    for (const text of ['one', ' two\r\n', '👩‍👩‍👧']) {
      call.event(chunk(text));
      assert.deepEqual(await read, { done: false, value: text });
      read = reader.read();
    }
    call.event(completed).end();
    assert.deepEqual(await read, { done: true, value: undefined });
    assert.deepEqual(known(), ['task-1', 'ctx-1', TaskState.TASK_STATE_COMPLETED]);
  });

  test('is an async iterable of chunks', async () => {
    await using agent = await Peer.listen((call) => {
      call.head().event(working).event(chunk('one')).event(status('1.0', 'working')).event(chunk('')).event(chunk('two')).event(completed).end();
    });
    const chunks: string[] = [];
    for await (const text of ask(agent)) chunks.push(text);
    assert.deepEqual(chunks, ['one', 'two']);
  });

  test('is a web ReadableStream, and goes where those go', async () => {
    await using agent = await Peer.listen((call) => {
      call.head().event(working).event(chunk('häl')).event(chunk('lo')).event(completed).end();
    });
    assert.ok(ask(agent) instanceof ReadableStream);
    assert.equal(await new Response(ask(agent).pipeThrough(new TextEncoderStream())).text(), 'hällo');
    const [one, other] = ask(agent).tee();
    assert.deepEqual(await Promise.all([readAll(one), readAll(other)]), Array(2).fill({ chunks: ['häl', 'lo'], failure: undefined }));
  });

  test('of a message is its text', async () => {
    await using agent = await Peer.listen((call) => call.head().event(message('1.0')).end());
    const stream = ask(agent);
    assert.deepEqual(await readAll(stream), { chunks: ['hello'], failure: undefined });
    assert.deepEqual([stream.taskId, stream.contextId, stream.state], [undefined, 'ctx-1', undefined]);
  });

  test('is the same in 0.3', async () => {
    await using agent = await Peer.listen((call) => {
      call.head().event(task('0.3', 'working')).event(artifact('0.3', 'one')).event(status('0.3', 'completed', { final: true })).end();
    });
    const stream = ask(agent, { protocolVersion: '0.3' });
    assert.deepEqual(await readAll(stream), { chunks: ['one'], failure: undefined });
    assert.equal(stream.state, TaskState.TASK_STATE_COMPLETED);
  });

  test('ends where the task waits for input, with what it asks for', async () => {
    const question = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Which city?' }] };
    const asks = { statusUpdate: { taskId: 'task-1', status: { state: 'TASK_STATE_INPUT_REQUIRED', message: question } } };
    await using agent = await Peer.listen((call) => call.head().event(working).event(asks).end());
    const stream = ask(agent);
    assert.deepEqual(await readAll(stream), { chunks: ['Which city?'], failure: undefined });
    assert.equal(stream.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  });

  test('ends at the end event, though the agent leaves the response open', async () => {
    await using agent = await Peer.listen((call) => call.head().event(working).event(chunk('one')).event(completed));
    assert.deepEqual(await readAll(ask(agent)), { chunks: ['one'], failure: undefined });
  });

  test('ends by throwing text.failed where the task fails, and keeps what it had delivered', async () => {
    const why = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'out of luck' }] };
    await using agent = await Peer.listen((call) => {
      call.head().event(working).event(chunk('half'));
      call.event({ statusUpdate: { taskId: 'task-1', status: { state: 'TASK_STATE_FAILED', message: why } } }).end();
    });
    const stream = ask(agent);
    const { chunks, failure } = await readAll(stream);
    assert.deepEqual(chunks, ['half']);
    assert.deepEqual([failure?.rule, failure?.kind, failure?.delivery], ['text.failed', 'remote_agent', 'answered']);
    const failed = failure?.unwrap();
    assert.ok(failed instanceof FailedTask);
    assert.deepEqual([failed.text, failed.taskId, failed.state], ['out of luck', 'task-1', TaskState.TASK_STATE_FAILED]);
    assert.match(Buffer.from(failed.raw).toString(), /^\{"statusUpdate".*out of luck/);
    assert.equal(stream.state, TaskState.TASK_STATE_FAILED);
  });

  const ENDINGS: readonly (readonly [rule: string, end: (call: PeerCall) => void])[] = [
    ['http.truncated', (call) => {
      call.cut();
    }],
    ['stream.incomplete', (call) => call.end()],
    ['remote.error', (call) => call.chunk(call.frame({ error: { code: -32603, message: 'broken' } })).end()],
    ['sse.field', (call) => call.chunk('retry: 1\n\n')],
    ['stream.identity', (call) => call.event(artifact('1.0', 'other', { taskId: 'task-2' }))],
    ['stream.after_end', (call) => call.event(completed).event(chunk('more'))],
  ];
  for (const [rule, end] of ENDINGS) {
    test(`that fails by ${rule} throws after the chunks that came before, though all came at once`, async () => {
      await using agent = await Peer.listen((call) => {
        call.socket.cork();
        end(call.head().event(working).event(chunk('one')).event(chunk('two')));
        call.socket.uncork();
      });
      const stream = ask(agent);
      const reader = stream.getReader();
      const first = await reader.read();
      // All that came has arrived before any more is asked for.
      await sleep(20);
      assert.deepEqual([first.value, (await reader.read()).value], ['one', 'two']);
      const failure = await failureFrom(() => reader.read());
      assert.equal(failure.rule, rule);
      assert.equal(await failureFrom(() => reader.read()), failure, 'and again, as a ReadableStream does');
    });
  }

  test('reads no more than it is asked for, and holds the agent back', async () => {
    await using agent = await Peer.listen();
    const { reader, call } = await begin(agent);
    const text = 'x'.repeat(60_000);
    for (let i = 0; i < 400; i++) call.event(chunk(text));
    await sleep(100);
    const held = call.client.bytesRead;
    assert.ok(held < 2_000_000 && call.socket.writableLength > 0, `${held} bytes were read ahead`);
    call.event(completed).end();
    let length = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
    }
    assert.equal(length, 400 * text.length);
  });

  test('of which nothing was read is not sent, also where it is canceled', async () => {
    await using agent = await Peer.listen();
    const [unread, canceled] = [ask(agent), ask(agent)];
    await canceled.cancel();
    assert.deepEqual(await readAll(canceled), { chunks: [], failure: undefined });
    await sleep(20);
    assert.equal(agent.connections, 0);
    await unread.cancel();
  });

  test("left by break closes the agent's stream", async () => {
    await using agent = await Peer.listen();
    const stream = ask(agent);
    const left = (async () => {
      for await (const text of stream) {
        assert.equal(text, 'one');
        break;
      }
    })();
    const call = (await agent.call()).head().event(working).event(chunk('one'));
    await left;
    assert.ok(await call.gone(1000));
    assert.ok(!stream.locked);
  });

  test("canceled closes the agent's stream, also while a chunk is waited for", async () => {
    await using agent = await Peer.listen();
    const between = await begin(agent);
    await between.reader.cancel('whatever');
    assert.ok(await between.call.gone(1000));

    const waiting = await begin(agent);
    const read = waiting.reader.read();
    await waiting.reader.cancel();
    assert.deepEqual(await read, { done: true, value: undefined });
    assert.ok(await waiting.call.gone(1000));
  });

  test('keeps the bounds of the peer', async () => {
    await using agent = await Peer.listen((call) => call.head().event(working).event(chunk('x'.repeat(2000))).event(completed).end());
    for (const [limits, rule] of [
      [{ maxEventBytes: 1000 }, 'limit.event_bytes'],
      [{ maxStreamBytes: 1000 }, 'limit.stream_bytes'],
      [{ maxStreamEvents: 1 }, 'limit.stream_events'],
    ] as const) {
      assert.equal((await readAll(ask(agent, { limits }))).failure?.rule, rule);
    }
    assert.equal((await readAll(ask(agent))).failure, undefined);
  });

  test('throws no more than its failure: nothing is unhandled', async (t) => {
    const unhandled: unknown[] = [];
    const onUnhandled = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', onUnhandled);
    t.after(() => process.off('unhandledRejection', onUnhandled));
    await using agent = await Peer.listen((call) => call.head().event(working).end());
    await readAll(ask(agent));
    await failureFrom(() => ask(agent, { limits: { maxEventBytes: 0 } }).getReader().read());
    await failureFrom(() => ask(agent).pipeTo(new WritableStream()));
    await sleep(20);
    assert.deepEqual(unhandled, []);
  });
});
