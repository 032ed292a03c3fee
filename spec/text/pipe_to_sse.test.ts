import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { after, describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import express from 'express';
import { EventSource } from 'undici';
import { pipeToSse, textPeer, type PipeToSseOptions, type TextAgent, type TextStream } from '../../lib/text/index.js';
import { Peer, closePeers, until, type PeerCall } from '../stream/peer.js';
import { artifact, message, status, task } from '../stream/results.js';
import { failureFrom } from '../support/caller_server.js';
import { listenTo, startProxy, type Proxy } from './proxy.js';

after(closePeers);

const working = task('1.0', 'working');
const chunk = (text: string): object => {
  const { artifactUpdate } = artifact('1.0', text) as { artifactUpdate: object };
  return { artifactUpdate: { ...artifactUpdate, append: true } };
};

const ask = (agent: Peer): TextStream => textPeer(agent.endpoint, { dispatcher: agent.dispatcher }).stream('hi');

/** An agent that says these chunks and has completed its task. */
function saying(...chunks: readonly string[]): Promise<Peer> {
  return Peer.listen((call) => {
    call.head().event(working);
    for (const text of chunks) call.event(chunk(text));
    call.event(status('1.0', 'completed')).end();
  });
}

function proxy(t: TestContext, agent: Peer, options?: PipeToSseOptions): Promise<Proxy> {
  return startProxy(t, () => ask(agent), options);
}

async function get(t: TestContext, url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const request = httpRequest(url, { headers, agent: false }).end();
  t.after(() => request.destroy());
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

/** A proxied stream whose first chunk has come to the browser. */
async function begin(t: TestContext, agent: Peer): Promise<{ response: IncomingMessage; call: PeerCall; outcome: Promise<unknown> }> {
  const { url, outcomes } = await proxy(t, agent);
  const response = await get(t, url);
  response.on('error', () => undefined);
  const call = (await agent.call()).head().event(working).event(chunk('one'));
  let body = '';
  while (!body.includes('data: one')) body += String((await once(response, 'data'))[0]);
  response.pause();
  return { response, call, outcome: outcomes[0]! };
}

describe('pipeToSse', () => {
  test('sends each chunk as an event with an id, and then the end', async (t) => {
    await using agent = await saying('one', 'two\nthree');
    const { url, outcomes } = await proxy(t, agent);
    const response = await get(t, url);
    assert.equal(response.statusCode, 200);
    assert.equal(response.headers['content-type'], 'text/event-stream');
    assert.equal(response.headers['cache-control'], 'no-store, no-transform');
    assert.equal(
      await readText(response),
      'id: 0\n\n' +
        'id: 1\ndata: one\n\n' +
        'id: 2\ndata: two\ndata: three\n\n' +
        'id: 3\nevent: end\ndata: {"state":"TASK_STATE_COMPLETED"}\n\n',
    );
    assert.equal(await outcomes[0], undefined);
  });

  test('chunks with line breaks arrive intact in an EventSource, and whatever looks like the framing', async (t) => {
    const breaks = ['a\nb', '\n', '\n\n', 'c\n', '\nd\n\ne'];
    const chunks = [...breaks, ' indented', '  - more\n    - more', ': no comment', 'data: x\nid: 7\nevent: y', '\ufeffbom', '\u2028', '\0', '👩‍👩‍👧'];
    await using agent = await saying(...chunks);
    const { url } = await proxy(t, agent);
    const { messages, ids, last } = listenTo(t, url);
    assert.deepEqual(await last, ['end', '{"state":"TASK_STATE_COMPLETED"}']);
    assert.deepEqual(messages, chunks);
    assert.deepEqual(ids, chunks.map((_, at) => String(at + 1)));
  });

  test('CR and CRLF arrive as LF, over the bounds of chunks too', async (t) => {
    await using agent = await saying('a\r\nb\rc', 'd\r', '\ne', 'f\r', 'g\r', '\n', 'h\r\n', '\ni');
    const { url } = await proxy(t, agent);
    const { messages, last } = listenTo(t, url);
    await last;
    assert.deepEqual(messages, ['a\nb\nc', 'd\n', 'e', 'f\n', 'g\n', 'h\n', '\ni']);
  });

  test('as JSON they arrive exact to the last CR', async (t) => {
    const chunks = ['a\r\nb\rc', 'd\r', '\ne', '"', '\\', '\0', '👩‍👩‍👧'];
    await using agent = await saying(...chunks);
    const { url } = await proxy(t, agent, { json: true });
    const { messages, last } = listenTo(t, url);
    await last;
    assert.deepEqual(messages.map((data) => JSON.parse(data) as unknown), chunks);
  });

  test('another parser reads the same, a character at a time', async (t) => {
    const chunks = ['a\nb', '\n', ' c', 'd\n\ne'];
    await using agent = await saying(...chunks);
    const { url } = await proxy(t, agent);
    const events: EventSourceMessage[] = [];
    const errors: Error[] = [];
    const parser = createParser({ onEvent: (event) => events.push(event), onError: (error) => errors.push(error) });
    for (const character of await readText(await get(t, url))) parser.feed(character);
    assert.deepEqual(events, [
      ...chunks.map((data, at) => ({ id: String(at + 1), event: undefined, data })),
      { id: '5', event: 'end', data: '{"state":"TASK_STATE_COMPLETED"}' },
    ]);
    assert.deepEqual(errors, []);
  });

  test('the end of a message names no state', async (t) => {
    await using agent = await Peer.listen((call) => call.head().event(message('1.0')).end());
    const { messages, last } = listenTo(t, (await proxy(t, agent)).url);
    assert.deepEqual(await last, ['end', '{}']);
    assert.deepEqual(messages, ['hello']);
  });

  test('a failure is an event that names kind and rule and nothing else, and is returned', async (t) => {
    const why = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'a secret of the agent' }] };
    const failed = { statusUpdate: { taskId: 'task-1', status: { state: 'TASK_STATE_FAILED', message: why } } };
    const error = { code: -32603, message: 'a secret of the agent' };
    for (const [end, data] of [
      [(call: PeerCall) => call.chunk(call.frame({ error })), { kind: 'remote_agent', rule: 'remote.error' }],
      [(call: PeerCall) => call.event(failed).end(), { kind: 'remote_agent', rule: 'text.failed' }],
      [(call: PeerCall) => call.end(), { kind: 'unavailable', rule: 'stream.incomplete' }],
    ] as const) {
      await using agent = await Peer.listen((call) => {
        end(call.head().event(working).event(chunk('one')));
      });
      const { url, outcomes } = await proxy(t, agent);
      assert.equal(
        await readText(await get(t, url)),
        `id: 0\n\nid: 1\ndata: one\n\nid: 2\nevent: error\ndata: ${JSON.stringify(data)}\n\n`,
      );
      assert.equal((await outcomes[0])?.rule, data.rule);
      assert.deepEqual(await listenTo(t, url).last, ['error', JSON.stringify(data)]);
    }
  });

  test('a browser that connects again is answered with 204 and gives up; the peer is asked once', async (t) => {
    await using agent = await saying('one');
    const { url, outcomes } = await proxy(t, agent);
    const { source, last, messages } = listenTo(t, url, { stays: true });
    await last;
    await until(() => source.readyState === EventSource.CLOSED);
    assert.deepEqual([outcomes.length, agent.connections, messages], [2, 1, ['one']]);
    assert.equal(await outcomes[1], undefined);
    const response = await get(t, url, { 'last-event-id': '1' });
    assert.deepEqual([response.statusCode, await readText(response)], [204, '']);
    assert.equal(agent.connections, 1);
  });

  test('so is one whose connection broke before the first chunk', async (t) => {
    await using agent = await Peer.listen();
    const connections: IncomingMessage[] = [];
    const { url } = await startProxy(t, (request) => {
      connections.push(request);
      return ask(agent);
    });
    const { source } = listenTo(t, url);
    const call = await agent.call();
    await until(() => source.readyState === EventSource.OPEN);
    await sleep(20);
    connections[0]?.socket.destroy();
    await until(() => source.readyState === EventSource.CLOSED);
    assert.deepEqual([connections.length, agent.connections], [2, 1]);
    assert.ok(await call.gone(1000));
  });

  test('comments keep the connection alive while the agent says nothing, and no longer', async (t) => {
    await using agent = await Peer.listen();
    const { url, outcomes } = await proxy(t, agent, { keepAliveMs: 10 });
    const response = await get(t, url);
    let body = '';
    response.on('data', (bytes: Buffer) => (body += bytes.toString()));
    const call = (await agent.call()).head();
    await until(() => body.split(':\n\n').length > 3);
    call.event(working).event(chunk('one')).event(status('1.0', 'completed')).end();
    await outcomes[0];
    await once(response, 'end');
    assert.match(body, /^id: 0\n\n(?::\n\n){3,}id: 1\ndata: one\n\n(?::\n\n)*id: 2\nevent: end\n.*\n\n$/);
  });

  test('a browser that does not read holds the agent back, and gets all of it in the end', async (t) => {
    await using agent = await Peer.listen();
    const { response, call } = await begin(t, agent);
    const text = 'x'.repeat(60_000);
    for (let i = 0; i < 400; i++) call.event(chunk(text));
    call.event(status('1.0', 'completed')).end();
    let read = 0;
    // Until it stands still: what the sockets between take is the system's to say.
    while (read !== call.client.bytesRead) {
      read = call.client.bytesRead;
      await sleep(100);
    }
    assert.ok(read < 400 * text.length, `${read} bytes were read ahead`);
    const body = await readText(response);
    assert.equal(body.split(`data: ${text}\n\n`).length, 401);
    assert.ok(body.endsWith('event: end\ndata: {"state":"TASK_STATE_COMPLETED"}\n\n'));
  });

  test("a browser that goes away closes the agent's stream, whether a chunk or the browser was waited for", async (t) => {
    await using agent = await Peer.listen();
    const idle = await begin(t, agent);
    idle.response.destroy();
    assert.ok(await idle.call.gone(1000));
    assert.equal(await idle.outcome, undefined);

    const blocked = await begin(t, agent);
    const text = 'x'.repeat(60_000);
    for (let i = 0; i < 400; i++) blocked.call.event(chunk(text));
    await sleep(100);
    blocked.response.destroy();
    assert.ok(await blocked.call.gone(1000));
    assert.equal(await blocked.outcome, undefined);
  });

  test('no comments pile up for a browser that does not read', async (t) => {
    await using agent = await Peer.listen((call) => {
      call.head().event(working);
      for (let i = 0; i < 400; i++) call.event(chunk('x'.repeat(60_000)));
    });
    let response: ServerResponse | undefined;
    const { url } = await startProxy(
      t,
      (_request, given) => {
        response = given;
        return ask(agent);
      },
      { keepAliveMs: 1 },
    );
    const browser = await get(t, url);
    browser.on('error', () => undefined);
    const stood = (): number => (response?.writableNeedDrain === true ? response.writableLength : NaN);
    let before = NaN;
    // The sockets between take some of it first.
    for (let still = 0; still < 5; still = stood() === before ? still + 1 : 0) {
      before = stood();
      await sleep(20);
    }
    assert.ok(before > 0);
    browser.destroy();
  });

  test('where somebody else ends the response, the stream is closed and nothing is thrown', async (t) => {
    await using agent = await Peer.listen();
    let response: ServerResponse | undefined;
    const { url, outcomes } = await startProxy(
      t,
      (_request, given) => {
        response = given;
        return ask(agent);
      },
      { keepAliveMs: 1 },
    );
    const body = readText(await get(t, url));
    const call = (await agent.call()).head().event(working);
    response?.end();
    call.event(chunk('one'));
    assert.match(await body, /^id: 0\n\n/);
    assert.equal(await outcomes[0], undefined);
    assert.ok(await call.gone(1000));
  });

  test('a stream that was begun before the browser came again is closed', async (t) => {
    await using agent = await Peer.listen();
    const stream = ask(agent);
    const reader = stream.getReader();
    const first = reader.read();
    const call = (await agent.call()).head().event(working).event(chunk('one'));
    await first;
    reader.releaseLock();
    const { url } = await startProxy(t, () => stream);
    assert.equal((await get(t, url, { 'last-event-id': '0' })).statusCode, 204);
    assert.ok(await call.gone(1000));
  });

  test("an agent of the caller's that does not let itself be left is left all the same", async (t) => {
    let left = false;
    const own: TextAgent = {
      sendMessage: () => assert.fail('not sent'),
      stream: () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise<never>(() => undefined),
          return: () => {
            left = true;
            return Promise.reject(new Error('a bug of the caller'));
          },
        }),
      }),
    };
    const { url, outcomes } = await startProxy(t, () => textPeer(own).stream('hi'));
    const response = await get(t, url);
    response.on('error', () => undefined);
    response.destroy();
    assert.equal(await outcomes[0], undefined);
    await until(() => left);
  });

  test('where the browser has gone already, or the response is over, nothing is asked', async (t) => {
    await using agent = await Peer.listen();
    const { url, outcomes } = await startProxy(t, (_request, response) => {
      response.destroy();
      return ask(agent);
    });
    await assert.rejects(get(t, url));
    assert.equal(await outcomes[0], undefined);

    const ended = await startProxy(t, (_request, response) => {
      response.end('done');
      return ask(agent);
    });
    assert.equal(await readText(await get(t, ended.url)), 'done');
    assert.equal(await ended.outcomes[0], undefined);
    assert.equal(agent.connections, 0);
  });

  test('headers of the caller are kept, also where they are sent already', async (t) => {
    await using agent = await saying('one');
    const early = await startProxy(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-own': '1' });
      return ask(agent);
    });
    const late = await startProxy(t, (_request, response) => {
      response.setHeader('x-own', '1');
      return ask(agent);
    });
    for (const { url } of [early, late]) {
      const response = await get(t, url);
      assert.deepEqual([response.headers['x-own'], response.headers['content-type']], ['1', 'text/event-stream']);
      assert.match(await readText(response), /data: one/);
    }
    const again = await get(t, early.url, { 'last-event-id': '1' });
    assert.equal(await readText(again), '');
  });

  test('wrong options, and a stream that is read already, are refused before anything is sent', async (t) => {
    await using agent = await Peer.listen();
    for (const [options, rule] of [
      [{ keepAliveMs: 0 }, 'options.time'],
      [{ keepalive: 1 }, 'options.unknown'],
      [{ json: false }, 'options.unknown'],
      [null, 'options.unknown'],
    ] as const) {
      const { url, outcomes } = await startProxy(t, () => ask(agent), options as PipeToSseOptions);
      const request = httpRequest(url).end();
      request.on('error', () => undefined);
      await until(() => outcomes.length === 1);
      const failure = await failureFrom(() => outcomes[0]!);
      assert.deepEqual([failure.rule, failure.delivery], [rule, 'not_sent']);
      request.destroy();
    }
    const { url, outcomes } = await startProxy(t, () => {
      const stream = ask(agent);
      stream.getReader();
      return stream;
    });
    const request = httpRequest(url).end();
    request.on('error', () => undefined);
    await until(() => outcomes.length === 1);
    await assert.rejects(outcomes[0]!, TypeError);
    request.destroy();
    assert.equal(agent.connections, 0);
  });

  test("what is no failure is the caller's own error: it is thrown, and the browser hears of no end", async (t) => {
    const error = new Error('a bug of the caller');
    const own: TextAgent = {
      sendMessage: () => Promise.reject(error),
      // eslint-disable-next-line @typescript-eslint/require-await
      async *stream() {
        throw error;
      },
    };
    const { url, outcomes } = await startProxy(t, () => textPeer(own).stream('hi'));
    const response = await get(t, url);
    await assert.rejects(readText(response), { code: 'ECONNRESET' });
    await assert.rejects(outcomes[0]!, error);
  });

  test('an express response will do', async (t) => {
    await using agent = await saying('one\ntwo');
    const app = express();
    app.get('/ask', async (_request, response) => {
      await pipeToSse(ask(agent), response);
    });
    const server = app.listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const { messages, last } = listenTo(t, `http://127.0.0.1:${address.port}/ask`);
    assert.equal((await last)[0], 'end');
    assert.deepEqual(messages, ['one\ntwo']);
  });
});
