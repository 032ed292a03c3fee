import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile } from 'node:child_process';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Agent, Client } from 'undici';
import { StrictClient, type CallMessage, type OperationName } from '../../lib/index.js';
import { failureFrom } from '../hostile/calls.js';
import { Peer, closePeers } from '../stream/peer.js';
import { DONE, SECRET, TASK, drain, message, optionsOf, story, task } from './peer_calls.js';
import { calls, channelsOf, only, witness } from './witness.js';

after(closePeers);

describe('The tracing channel', () => {
  test('hears of a unary call: its start with all that is known before, its end with all that is known after', async (t) => {
    await using peer = await Peer.listen(task);
    const seen = witness(t);
    const before = Date.now();
    await peer.client.sendMessage(optionsOf(peer), message);
    assert.equal(channelsOf(seen), 'start end asyncStart asyncEnd');
    const { startedAt, milliseconds, requestId, requestBytes, bytes, ...rest } = { ...only(seen) };
    assert.deepEqual(rest, {
      version: 1,
      operation: 'sendMessage',
      stream: false,
      method: 'SendMessage',
      origin: new URL(peer.endpoint).origin,
      protocolVersion: '1.0',
      firstEventMilliseconds: undefined,
      status: 200,
      events: 0,
      outcome: 'ok',
      delivery: 'answered',
      kind: undefined,
      rule: undefined,
    });
    assert.ok(startedAt >= before && startedAt <= Date.now());
    assert.ok(milliseconds !== undefined && milliseconds > 0 && milliseconds < 60_000);
    assert.match(requestId ?? '', /^[0-9a-f]{32}$/);
    assert.ok(requestBytes > SECRET.length);
    assert.equal(bytes, JSON.stringify({ jsonrpc: '2.0', id: requestId, result: { task: TASK } }).length);

    const [start] = seen;
    assert.deepEqual(
      Object.entries(start!.members).filter(([, value]) => value === undefined).map(([name]) => name),
      ['milliseconds', 'firstEventMilliseconds', 'status', 'bytes', 'events', 'outcome', 'delivery', 'kind', 'rule'],
    );
  });

  test('hears of a stream from its first next() to its end, and when its first event came', async (t) => {
    await using peer = await Peer.listen(story);
    const seen = witness(t);
    const stream = peer.client.sendStreamingMessage(optionsOf(peer), message);
    await sleep(5);
    assert.equal(channelsOf(seen), '', 'nothing was asked for');
    assert.equal(await drain(stream), 2);
    assert.equal(channelsOf(seen), 'start end asyncStart asyncEnd');
    const { operation, stream: isStream, method, events, outcome, bytes, firstEventMilliseconds, milliseconds } = only(seen);
    assert.deepEqual([operation, isStream, method, events, outcome], ['sendStreamingMessage', true, 'SendStreamingMessage', 2, 'ok']);
    assert.ok(bytes !== undefined && bytes > 200);
    assert.ok(firstEventMilliseconds !== undefined && firstEventMilliseconds > 0);
    assert.ok(milliseconds !== undefined && milliseconds >= firstEventMilliseconds);
  });

  test('hears of a failure before the end, with its kind, its rule and the failure that the caller gets', async (t) => {
    await using peer = await Peer.listen((call) => void call.json({ error: { code: -32001, message: SECRET } }));
    const seen = witness(t);
    const unary = await failureFrom(peer.client.getTask(optionsOf(peer), { id: 'task-1' }));
    assert.equal(channelsOf(seen), 'start end error asyncStart asyncEnd');
    const { kind, rule, delivery, status, outcome, error } = only(seen);
    assert.deepEqual([kind, rule, delivery, status, outcome], ['remote_agent', 'remote.error', 'answered', 200, 'failure']);
    assert.equal(error, unary);

    seen.length = 0;
    const streamed = await failureFrom(drain(peer.client.sendStreamingMessage(optionsOf(peer), message)));
    assert.equal(channelsOf(seen), 'start end error asyncStart asyncEnd');
    assert.equal(only(seen).error, streamed);
    assert.equal(only(seen).rule, 'remote.error');
  });

  test('hears the end of a stream that failed after some events, with those that were delivered', async (t) => {
    await using peer = await Peer.listen((call) => {
      call.head().event({ task: TASK }).end();
    });
    const seen = witness(t);
    await failureFrom(drain(peer.client.sendStreamingMessage(optionsOf(peer), message)));
    const { rule, events, outcome } = only(seen);
    assert.deepEqual([rule, events, outcome], ['stream.incomplete', 1, 'failure']);
  });

  test('hears of a call that is refused before anything is sent', async (t) => {
    await using peer = await Peer.listen(task);
    const seen = witness(t);
    const refused: readonly (readonly [() => Promise<unknown>, OperationName, string])[] = [
      [() => peer.client.getTask({ ...optionsOf(peer), endpoint: `ftp://${SECRET}/` }, { id: 'x' }), 'getTask', 'options.endpoint'],
      [() => peer.client.listTasks(optionsOf(peer, { protocolVersion: '0.3' })), 'listTasks', 'options.operation'],
      [() => peer.client.getTask(optionsOf(peer), { id: '' }), 'getTask', 'request.params'],
      [() => peer.client.call(optionsOf(peer), ''), 'call', 'request.params'],
      [() => new StrictClient(new Client(peer.endpoint)).getExtendedAgentCard(optionsOf(peer)), 'getExtendedAgentCard', 'options.dispatcher'],
      [() => drain(peer.client.subscribeToTask(optionsOf(peer, { maxEventBytes: 0 }), { id: 'x' })), 'subscribeToTask', 'options.limit'],
    ];
    for (const [call, operation, rule] of refused) {
      seen.length = 0;
      const failure = await failureFrom(call());
      assert.equal(failure.rule, rule);
      assert.equal(channelsOf(seen), 'start end error asyncStart asyncEnd', rule);
      const told = only(seen);
      assert.equal(told.error, failure);
      assert.deepEqual(
        [told.operation, told.rule, told.kind, told.delivery, told.outcome, told.requestBytes, told.bytes, told.origin, told.requestId],
        [operation, rule, 'invalid_argument', 'not_sent', 'failure', 0, 0, undefined, undefined],
      );
    }
    assert.deepEqual(peer.connections, 0);
  });

  test('hears start and end before all else, also of a call that is over at once', async (t) => {
    await using peer = await Peer.listen(task);
    const seen = witness(t);
    const closed = new Agent();
    await closed.close();
    const atOnce: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => peer.client.sendMessage(optionsOf(peer, { signal: AbortSignal.abort() }), message), 'canceled.signal'],
      [() => drain(peer.client.sendStreamingMessage(optionsOf(peer, { signal: AbortSignal.abort() }), message)), 'canceled.signal'],
      [() => peer.client.sendMessage(optionsOf(peer, { endpoint: 'http://agent.test/', headers: { cookie: 'a=b' } }), message), 'options.cleartext_credentials'],
      [() => new StrictClient(closed).sendMessage(optionsOf(peer), message), 'http.connect'],
    ];
    for (const [call, rule] of atOnce) {
      seen.length = 0;
      await failureFrom(call());
      assert.equal(channelsOf(seen), 'start end error asyncStart asyncEnd', rule);
      assert.deepEqual([only(seen).rule, only(seen).delivery, seen[0]!.members['outcome']], [rule, 'not_sent', undefined]);
    }
  });

  test('tells a stream that the caller left from one that ended', async (t) => {
    await using peer = await Peer.listen((call) => {
      call.head().event({ task: TASK });
      if (call.connection > 1) call.event(DONE).end();
    });
    const seen = witness(t);
    const stream = peer.client.sendStreamingMessage(optionsOf(peer), message);
    await stream.next();
    await Promise.all([stream.return(), stream.return()]);
    assert.equal(channelsOf(seen), 'start end asyncStart asyncEnd');
    assert.deepEqual([only(seen).outcome, only(seen).events, only(seen).delivery], ['left', 1, 'answered']);

    seen.length = 0;
    for await (const { event } of peer.client.sendStreamingMessage(optionsOf(peer), message)) if (event.$case === 'statusUpdate') break;
    assert.deepEqual([only(seen).outcome, only(seen).events], ['ok', 2], 'after the end event there was nothing more to come');

    seen.length = 0;
    await peer.client.sendStreamingMessage(optionsOf(peer), message).return();
    assert.equal(channelsOf(seen), '', 'a stream that was never asked for anything was no call');
  });

  test('hears of each operation by its name', async (t) => {
    await using peer = await Peer.listen((call) => void call.json({ error: { code: -32001, message: 'no' } }));
    const seen = witness(t);
    const { client } = peer;
    const options = optionsOf(peer);
    const config = { taskId: 'task-1', id: 'config-1' };
    const made: Record<OperationName, () => Promise<unknown>> = {
      sendMessage: () => client.sendMessage(options, message),
      getTask: () => client.getTask(options, { id: 'task-1' }),
      listTasks: () => client.listTasks(options),
      cancelTask: () => client.cancelTask(options, { id: 'task-1' }),
      createTaskPushNotificationConfig: () => client.createTaskPushNotificationConfig(options, { ...config, url: 'https://caller.test/' }),
      getTaskPushNotificationConfig: () => client.getTaskPushNotificationConfig(options, config),
      listTaskPushNotificationConfigs: () => client.listTaskPushNotificationConfigs(options, { taskId: 'task-1' }),
      deleteTaskPushNotificationConfig: () => client.deleteTaskPushNotificationConfig(options, config),
      getExtendedAgentCard: () => client.getExtendedAgentCard(options),
      call: () => client.call(options, 'Anything'),
      sendStreamingMessage: () => drain(client.sendStreamingMessage(options, message)),
      subscribeToTask: () => drain(client.subscribeToTask(options, { id: 'task-1' })),
    };
    for (const [name, make] of Object.entries(made)) {
      seen.length = 0;
      assert.equal((await failureFrom(make())).rule, 'remote.error', name);
      assert.deepEqual([only(seen).operation, only(seen).stream], [name, /^(send|subscribe).*(Streaming|ToTask)/.test(name)]);
    }
  });

  test('says nothing of a payload, a header value, a path or a query', async (t) => {
    await using peer = await Peer.listen((call) => {
      call.head().event({ task: { ...TASK, metadata: { word: SECRET } } }).event(DONE).end();
    });
    const seen = witness(t);
    await drain(peer.client.sendStreamingMessage(optionsOf(peer), message));
    await failureFrom(peer.client.sendMessage(optionsOf(peer), message));
    assert.ok(seen.length >= 8);
    for (const { message: told } of seen) {
      const everything = JSON.stringify([told, told.error, Reflect.ownKeys(told).map((key) => Reflect.get(told, key) as unknown)]);
      assert.ok(!everything.includes(SECRET) && !everything.includes('/agent'), everything);
      assert.ok(!everything.includes('task-1') && !everything.includes('context-1'), everything);
    }
  });

  test('is one object a call, whatever goes on beside it', async (t) => {
    await using peer = await Peer.listen(task);
    const seen = witness(t);
    await Promise.all(Array.from({ length: 20 }, () => peer.client.sendMessage(optionsOf(peer), message)));
    const byMessage = Map.groupBy(seen, ({ message: told }) => told);
    assert.equal(byMessage.size, 20);
    for (const of of byMessage.values()) assert.equal(channelsOf(of), 'start end asyncStart asyncEnd');
    assert.equal(new Set(seen.map(({ message: told }) => told.requestId)).size, 20);
  });

  test('says nothing to one who subscribes while the call goes on', async (t) => {
    let answer: (() => void) | undefined;
    await using peer = await Peer.listen((call) => {
      answer = () => {
        task(call);
      };
    });
    const reply = peer.client.sendMessage(optionsOf(peer), message);
    while (answer === undefined) await sleep(1);
    const seen = witness(t);
    answer();
    await reply;
    assert.equal(channelsOf(seen), '');
  });

  test('is not harmed by a subscriber that throws, nor is the call: Node reports the throw as uncaught', async () => {
    const child = fileURLToPath(new URL('./children/throws.ts', import.meta.url));
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', 'tsx', child], { timeout: 30_000 });
    assert.equal(stderr, '');
    assert.deepEqual(JSON.parse(stdout), {
      unary: 'task',
      failed: 'options.limit',
      events: 2,
      uncaught: { start: 3, end: 3, error: 1, asyncStart: 3, asyncEnd: 3, store: 3 },
    });
  });

  test('has no effect on the call, whatever is done to the message', async (t) => {
    await using peer = await Peer.listen(task);
    witness(t, 'start', (told) => {
      for (const name of Object.keys(told)) Reflect.set(told, name, SECRET);
      Object.freeze(told);
    });
    const frozen = peer.client.sendMessage(optionsOf(peer), message);
    assert.equal((await frozen).result.$case, 'task');
  });
});

describe('A store that is bound to the start of calls', () => {
  test('is that of the interceptors and of the dispatch, and not of the caller', async (t) => {
    await using peer = await Peer.listen((call) => {
      if (call.connection > 0) task(call);
    });
    const store = new AsyncLocalStorage<CallMessage>();
    calls.start.bindStore(store, (told) => told);
    t.after(() => {
      calls.start.unbindStore(store);
    });
    const found: unknown[] = [];
    const dispatcher = peer.dispatcher.compose((dispatch) => (options, handler) => {
      found.push(store.getStore()?.operation);
      return dispatch(options, handler);
    });
    const interceptor = {
      before: async () => {
        found.push(store.getStore()?.requestId);
        await sleep(1);
        found.push(store.getStore()?.requestId);
      },
    };
    let id: string | undefined;
    const noted = { before: ({ requestId }: { requestId: string }) => void (id = requestId) };
    await new StrictClient(dispatcher).sendMessage(optionsOf(peer, { interceptors: [interceptor, noted] }), message);
    assert.deepEqual(found, [id, id, 'sendMessage']);
    assert.equal(store.getStore(), undefined);
  });
});
