import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { Agent, Client, type Dispatcher } from 'undici';
import { DialectProbe, probeDialect, type ProbeOptions } from '../../lib/discovery/index.js';
import { startAgent } from '../demo/agent.js';
import { failureFrom, lineOf as lineOfFailure, outcome, until } from '../hostile/calls.js';
import { keep, keepDispatcher } from '../hostile/keep.js';
import { JSON_FIELD, RawServer, errorText, good, response, type Answer, type SeenRequest } from '../hostile/raw_server.js';

interface Asked {
  readonly method: string;
  readonly params: { readonly id: string };
}

interface Probed {
  readonly server: RawServer;
  readonly dispatcher: Dispatcher;
  readonly options: ProbeOptions;
  /** What the agent was asked, in order. */
  readonly asked: () => Asked[];
}

async function agentThat(t: TestContext, ...answers: Answer[]): Promise<Probed> {
  let count = 0;
  const server = keep(
    t,
    await RawServer.listen((socket, request) => {
      answers[Math.min(count++, answers.length - 1)]!(socket, request);
    }),
  );
  return {
    server,
    dispatcher: keepDispatcher(t, new Agent()),
    options: { endpoint: `${server.origin}/rpc`, maxResponseBytes: 10_000 },
    asked: () => server.requests.map(({ body }) => JSON.parse(body) as Asked),
  };
}

/** Answers with a JSON-RPC error. */
const fails = (code: number, status = 200): Answer => (socket, { id }) => socket.write(response(status, [JSON_FIELD], errorText(id, code)));
const status = (code: number): Answer => (socket) => socket.write(response(code, ['content-type: text/plain'], 'no'));
/** Answers with the task that it was asked for, in 1.0 or 0.3. */
const hasTask = (state: string, more = {}): Answer => (socket, request: SeenRequest) => {
  const { params } = JSON.parse(request.body) as Asked;
  socket.write(good(request.id, { id: params.id, contextId: 'c', status: { state }, ...more }));
};

/** The dialect or the failure, and the methods that were asked for. */
async function lineOf({ dispatcher, options, asked }: Probed, more: Partial<ProbeOptions> = {}): Promise<string> {
  let line: string;
  try {
    line = await probeDialect(dispatcher, { ...options, ...more });
  } catch (error) {
    line = lineOfFailure(error);
  }
  return [line, ...asked().map(({ method }) => method)].join(' ');
}

describe('A probe of an agent', () => {
  const rows: [what: string, answers: Answer[], line: string][] = [
    ['that knows no such task finds 1.0', [fails(-32001)], '1.0 GetTask'],
    ['that knows no such task and says so by its status finds 1.0', [fails(-32001, 404)], '1.0 GetTask'],
    ['that knows no such task and calls that a bad request finds 1.0', [fails(-32001, 400)], '1.0 GetTask'],
    ['that has the task finds 1.0', [hasTask('TASK_STATE_WORKING')], '1.0 GetTask'],
    ['that fails with another error of its own protocol finds 1.0', [fails(-32008)], '1.0 GetTask'],
    ['that knows no such method, but knows it in 0.3, finds 0.3', [fails(-32601), fails(-32001)], '0.3 GetTask tasks/get'],
    ['that does not support the version finds 0.3', [fails(-32009), fails(-32001)], '0.3 GetTask tasks/get'],
    ['that does not support the version and says so by its status finds 0.3', [fails(-32009, 400), fails(-32001)], '0.3 GetTask tasks/get'],
    ['that calls it a bad request finds 0.3', [status(400), fails(-32001)], '0.3 GetTask tasks/get'],
    ['that calls it an invalid request and a bad one finds 0.3', [fails(-32600, 400), fails(-32001)], '0.3 GetTask tasks/get'],
    ['that has the task in 0.3 finds 0.3', [fails(-32601), hasTask('working', { kind: 'task' })], '0.3 GetTask tasks/get'],
    ['that knows neither method finds nothing', [fails(-32601), fails(-32601)], 'remote.error answered 200 GetTask tasks/get'],
    ['that fails inside finds nothing', [fails(-32603)], 'remote.error answered 200 GetTask'],
    ['that fails in 0.3 finds nothing', [fails(-32601), fails(-32603)], 'remote.error answered 200 GetTask tasks/get'],
    ['that calls both a bad request finds nothing', [status(400), status(400)], 'http.status answered 400 GetTask tasks/get'],
    ['that calls it invalid finds nothing', [fails(-32600)], 'remote.error answered 200 GetTask'],
    ['that has an error of its own finds nothing', [fails(-32000)], 'remote.error answered 200 GetTask'],
    ['that is not let in finds nothing', [status(401)], 'http.status answered 401 GetTask'],
    ['that is not there finds nothing', [status(404)], 'http.status answered 404 GetTask'],
    ['that is busy finds nothing', [status(503)], 'http.status answered 503 GetTask'],
    ['that is elsewhere finds nothing', [status(307)], 'http.redirect answered 307 GetTask'],
    ['that answers with a task of 0.3 to 1.0 finds nothing', [hasTask('working', { kind: 'task' })], 'a2a.schema answered GetTask'],
    ['that answers about another task finds nothing', [(socket, { id }) => socket.write(good(id, { id: 'other', status: { state: 'TASK_STATE_WORKING' } }))], 'a2a.identity answered GetTask'],
    ['that closes finds nothing', [(socket) => socket.resetAndDestroy()], 'http.connection_lost unknown GetTask'],
    ['that answers with a page finds nothing', [(socket) => socket.write(response(200, ['content-type: text/html'], '<p>'))], 'http.content_type answered GetTask'],
  ];
  for (const [what, answers, line] of rows) {
    test(what, async (t) => {
      assert.equal(await lineOf(await agentThat(t, ...answers)), line);
    });
  }

  test('asks for a task that there is none of, the same in both dialects and another each time', async (t) => {
    const probed = await agentThat(t, fails(-32601), fails(-32001));
    await probeDialect(probed.dispatcher, probed.options);
    await probeDialect(probed.dispatcher, probed.options).catch(() => undefined);
    const [first, second, third] = probed.asked().map(({ params }) => params.id);
    assert.match(first!, /^[0-9a-f-]{36}$/);
    assert.equal(second, first);
    assert.notEqual(third, first);
    assert.deepEqual(probed.server.requests.map(({ headers }) => headers.get('a2a-version')), ['1.0', undefined, '1.0']);
  });

  test('does not look for 0.3 where the caller has a tenant, which 0.3 has not', async (t) => {
    assert.equal(await lineOf(await agentThat(t, fails(-32601)), { tenant: 't' }), 'remote.error answered 200 GetTask');
  });

  test('that is the official one finds 1.0', async (t) => {
    const { url } = keep(t, await startAgent());
    assert.equal(await probeDialect(keepDispatcher(t, new Agent()), { endpoint: url, maxResponseBytes: 10_000 }), '1.0');
  });

  test('has one clock for both requests', async (t) => {
    const probed = await agentThat(t, fails(-32601), () => undefined);
    assert.equal(await lineOf(probed, { timeoutMs: 150 }), 'deadline.total unknown GetTask tasks/get');
  });

  test('ends with its signal, and closes its connection', async (t) => {
    const controller = new AbortController();
    const probed = await agentThat(t, () => {
      controller.abort();
    });
    assert.equal(await lineOf(probed, { signal: controller.signal }), 'canceled.signal unknown GetTask');
    await until(() => probed.server.sockets.size === 0, 'the connection is closed');
  });

  test('refuses wrong options before anything is sent', async (t) => {
    const { dispatcher, options, server } = await agentThat(t, fails(-32001));
    const rows: [unknown, string][] = [
      [{ ...options, protocolVersion: '1.0' }, 'options.unknown'],
      [{ ...options, probe: true }, 'options.unknown'],
      [{ ...options, endpoint: '/rpc' }, 'options.endpoint'],
      [{ endpoint: options.endpoint }, 'options.limit'],
      [null, 'options.unknown'],
      [new Map(), 'options.unknown'],
    ];
    for (const [wrong, rule] of rows) {
      assert.equal(await outcome(probeDialect(dispatcher, wrong as ProbeOptions)), `${rule} not_sent`);
      assert.equal(await outcome(new DialectProbe().dialect(dispatcher, wrong as ProbeOptions)), `${rule} not_sent`);
    }
    for (const none of [keepDispatcher(t, new Client(server.origin)), undefined, {}, 'agent']) {
      assert.equal(await outcome(probeDialect(none as Dispatcher, options)), 'options.dispatcher not_sent');
      assert.equal(await outcome(new DialectProbe().dialect(none as Dispatcher, options)), 'options.dispatcher not_sent');
    }
    assert.equal(server.connections, 0);
  });

  test('reads its options once', async (t) => {
    const headers = { 'x-key': 'first' };
    const probed = await agentThat(
      t,
      (socket, request) => {
        headers['x-key'] = 'second';
        fails(-32601)(socket, request);
      },
      fails(-32001),
    );
    assert.equal(await probeDialect(probed.dispatcher, { ...probed.options, headers }), '0.3');
    assert.deepEqual(probed.server.requests.map((request) => request.headers.get('x-key')), ['first', 'first']);
  });
});

describe('A DialectProbe', () => {
  test('remembers by endpoint and tenant what it found out', async (t) => {
    const { dispatcher, options, server } = await agentThat(t, fails(-32001));
    const probe = new DialectProbe();
    for (const one of [options, options, { ...options, headers: { a: 'b' } }]) assert.equal(await probe.dialect(dispatcher, one), '1.0');
    assert.equal(server.requests.length, 1);
    await probe.dialect(dispatcher, { ...options, endpoint: `${server.origin}/other` });
    await probe.dialect(dispatcher, { ...options, tenant: 't' });
    assert.equal(server.requests.length, 3);
    await new DialectProbe().dialect(dispatcher, options);
    assert.equal(server.requests.length, 4);
  });

  test('remembers no failure', async (t) => {
    const { dispatcher, options, asked } = await agentThat(t, status(503), fails(-32601), fails(-32001));
    const probe = new DialectProbe();
    assert.equal(await outcome(probe.dialect(dispatcher, options)), 'http.status answered 503');
    assert.equal(await probe.dialect(dispatcher, options), '0.3');
    assert.equal(await probe.dialect(dispatcher, options), '0.3');
    assert.equal(asked().length, 3);
  });

  test('asks once for a hundred callers at once, and one that leaves takes nothing from the others', async (t) => {
    let answer: (() => void) | undefined;
    const { dispatcher, options, server } = await agentThat(t, (socket, request) => {
      answer = () => {
        fails(-32001)(socket, request);
      };
    });
    const probe = new DialectProbe();
    const controller = new AbortController();
    const leaving = failureFrom(probe.dialect(dispatcher, { ...options, signal: controller.signal }));
    const staying = Array.from({ length: 99 }, () => probe.dialect(dispatcher, options));
    await until(() => answer !== undefined, 'the request');
    controller.abort();
    assert.equal((await leaving).rule, 'canceled.signal');
    answer!();
    assert.deepEqual(new Set(await Promise.all(staying)), new Set(['1.0']));
    assert.equal(server.requests.length, 1);
  });

  test('asks anew after all callers have left', async (t) => {
    const { dispatcher, options, server } = await agentThat(t, () => undefined, fails(-32001));
    const probe = new DialectProbe();
    assert.equal(await outcome(probe.dialect(dispatcher, { ...options, timeoutMs: 50 })), 'deadline.total unknown');
    await until(() => server.sockets.size === 0, 'the connection is closed');
    assert.equal(await probe.dialect(dispatcher, options), '1.0');
    assert.equal(server.requests.length, 2);
  });

  test('does not let a caller fail by the credentials of another', async (t) => {
    const byKey: Answer = (socket, request) => {
      (request.headers.get('authorization') === undefined ? status(401) : fails(-32001))(socket, request);
    };
    const { dispatcher, options } = await agentThat(t, byKey);
    const probe = new DialectProbe();
    const [without, within] = await Promise.all([
      outcome(probe.dialect(dispatcher, options)),
      probe.dialect(dispatcher, { ...options, headers: { authorization: 'Bearer fake' } }),
    ]);
    assert.deepEqual([without, within], ['http.status answered 401', '1.0']);
  });

  test('shows each request to the interceptors of its own caller', async (t) => {
    const { dispatcher, options, server } = await agentThat(t, fails(-32001));
    const probe = new DialectProbe();
    const seen: string[] = [];
    const watching = (name: string): ProbeOptions => ({ ...options, interceptors: [{ before: ({ method }) => void seen.push(`${name} ${method}`) }] });
    await Promise.all([probe.dialect(dispatcher, watching('a')), probe.dialect(dispatcher, watching('b'))]);
    assert.deepEqual(seen, ['a GetTask', 'b GetTask']);
    assert.equal(server.requests.length, 2);
  });

  test('remembers 256 endpoints, and forgets the oldest beyond', async (t) => {
    const { dispatcher, options, server } = await agentThat(t, fails(-32001));
    const probe = new DialectProbe();
    const ask = (at: number): Promise<string> => probe.dialect(dispatcher, { ...options, endpoint: `${server.origin}/${at}` });
    for (let at = 0; at <= 256; at++) await ask(at);
    const before = server.requests.length;
    await ask(256);
    await ask(1);
    assert.equal(server.requests.length, before);
    await ask(0);
    assert.equal(server.requests.length, before + 1);
  });
});
