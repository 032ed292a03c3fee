import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAgent } from '../../lib/cli/check/check_agent.js';
import { Connections } from '../../lib/cli/check/connections.js';
import { judgeTls } from '../../lib/cli/check/probes/connection.js';
import { startDemoAgent } from '../../lib/cli/demo/agent.js';
import { hardenedAgent } from '../../lib/hardened/agent.js';
import { startTextAgent } from '../text/agents.js';
import { cli, values } from './cli.js';
import { DEFECTS } from './defects.js';
import { error, goodAgent } from './good_agent.js';
import { cardOf, json, startOdd, taskOf, type Answer } from './odd_agent.js';

/** What of each check became of it: `kept`, `not_exercised`, or the rule that is broken. */
async function check(argv: readonly string[]): Promise<{ code: number; states: Record<string, string>; lines: Record<string, unknown>[] }> {
  const { code, stdout } = await cli(['check', ...argv, '--json']);
  const lines = values(stdout);
  const summary = lines.at(-1)?.['check'] === undefined ? lines.pop() : undefined;
  const stateOf = ({ state, rule }: Record<string, unknown>): string => [state, rule].filter((word) => typeof word === 'string').join(' ');
  const states = Object.fromEntries(lines.map((line) => [String(line['check']), stateOf(line)]));
  if (summary?.['failure'] === undefined) {
    const count = (state: string): number => Object.values(states).filter((one) => one.startsWith(state)).length;
    deepEqual(summary, { summary: { kept: count('kept'), broken: count('broken'), not_exercised: count('not_exercised') } });
    equal(Object.keys(states).length, lines.length, 'one line a check');
  }
  return { code, states, lines };
}

const names = (states: Record<string, string>, state: string): string[] => Object.keys(states).filter((name) => states[name]!.startsWith(state));

const NEEDS_SEND = ['sse.framing', 'sse.ids_unique', 'tasks.send', 'tasks.get', 'stream.lifecycle', 'stream.event_ids', 'stream.end', 'tasks.cancel'];

describe('check', { concurrency: true }, () => {
  test('The agent of the official SDK keeps all that it is asked for, and needs optional event ids', async (t: TestContext) => {
    // The SDK's server logs each error that it answers with.
    t.mock.method(console, 'error', () => undefined);
    const { baseUrl, heard } = await startTextAgent(t, () => ({ brings: ['one', 'two'] }));
    const harmless = await check([baseUrl]);
    deepEqual([harmless.code, names(harmless.states, 'broken')], [0, []]);
    deepEqual(names(harmless.states, 'not_exercised').sort(), ['card.signature', 'tls', ...NEEDS_SEND].sort());
    deepEqual(heard, [], 'no message was sent');

    const all = await check([baseUrl, '--send', 'hello', 'there']);
    deepEqual([all.code, names(all.states, 'broken')], [0, []]);
    deepEqual(names(all.states, 'not_exercised').sort(), ['card.signature', 'tasks.cancel', 'tls']);
    deepEqual(heard, ['hello there', 'hello there', 'hello there']);
    match(String(all.lines.find((line) => line['check'] === 'stream.event_ids')?.['advice']), /callers need eventIds: 'optional'/);

  });

  test('Who asks for event ids is told that there are none', async (t: TestContext) => {
    t.mock.method(console, 'error', () => undefined);
    const { baseUrl, heard } = await startTextAgent(t, () => ({ brings: ['one', 'two'] }));
    const { code, states } = await check([baseUrl, '--send', '--event-ids', 'required']);
    deepEqual([code, names(states, 'broken'), states['stream.event_ids']], [1, ['stream.event_ids'], 'broken sse.id_missing']);
    deepEqual(heard, ['Hello', 'Hello', 'Hello']);
  });

  test('The agent of the demonstration keeps them too, in both dialects, but for a stream that it cuts', async (t: TestContext) => {
    const agent = await startDemoAgent(() => Promise.resolve(), 1);
    t.after(() => agent.close());
    const absent = ['card', 'card.interface', 'card.signature', 'tasks.cancel', 'tls'];
    const [current, old, probed, cut] = await Promise.all([
      check([agent.url, '--exact', '--send']),
      check([agent.url, '--exact', '--dialect', '0.3', '--send']),
      check([agent.url, '--exact', '--dialect', 'probe', '--send']),
      check([agent.cutUrl, '--exact', '--send']),
    ]);
    deepEqual([current.code, names(current.states, 'not_exercised').sort()], [0, absent]);
    deepEqual(probed.states, current.states);
    deepEqual([old.code, names(old.states, 'not_exercised').sort()], [0, [...absent, 'errors.wrong_version', 'tasks.list'].sort()]);
    deepEqual([cut.code, names(cut.states, 'broken'), cut.states['stream.lifecycle']], [1, ['stream.lifecycle'], 'broken stream.incomplete']);
  });

  test('An agent that keeps every rule has each of them kept', async (t: TestContext) => {
    const { url } = await startOdd(t, goodAgent());
    const { code, states } = await check([url, '--send', '--event-ids', 'sequential']);
    deepEqual([code, names(states, 'broken'), names(states, 'not_exercised')], [0, [], ['card.signature', 'tls']]);
  });

  for (const { name, defects, finding, argv = [] } of DEFECTS) {
    const broken = Object.keys(finding);
    test(`Of ${name}, ${broken.length === 0 ? 'nothing is broken' : `${broken.join(' and ')} is broken, and nothing else`}`, async (t: TestContext) => {
      const { url } = await startOdd(t, goodAgent(defects));
      const { code, states, lines } = await check([url, '--send', ...argv]);
      deepEqual(Object.fromEntries(Object.entries(states).filter(([, state]) => state.startsWith('broken'))), finding);
      equal(code, broken.length === 0 ? 0 : 1);
      for (const line of lines.filter(({ state }) => state === 'broken')) ok(String(line['advice']).length > 10);
    });
  }

  test('An agent may take longer over a message than over what needs no thought', async (t: TestContext) => {
    const { url } = await startOdd(t, goodAgent({
      SendMessage: ({ id }, response) => {
        setTimeout(() => { json(response, { jsonrpc: '2.0', id, result: { task: taskOf('hi') } }); }, 2_000);
      },
    }));
    const agent = hardenedAgent({ network: 'loopback' });
    t.after(() => agent.destroy());
    const findings = await checkAgent(agent, {
      target: { kind: 'exact', url, dialect: '1.0', tenant: undefined },
      call: { headers: {}, secretHeaders: [], timeoutMs: 1_000, maxResponseBytes: 65_536, maxEventBytes: 65_536, eventIds: 'optional' },
      card: { maxCardBytes: undefined, cardPath: undefined, allowLegacyCardPath: undefined },
      verification: undefined,
      allowCrossOriginInterfaces: undefined,
      text: 'hi',
      messageTimeoutMs: 60_000,
      progress: () => undefined,
    });
    deepEqual(findings.filter(({ state }) => state === 'broken'), []);
  });

  test('A cancellation after which the task goes on shows nothing', async (t: TestContext) => {
    const { url } = await startOdd(t, goodAgent({ CancelTask: ({ id }, response) => { json(response, { jsonrpc: '2.0', id, result: taskOf('', 'TASK_STATE_WORKING') }); } }));
    equal((await check([url, '--send'])).states['tasks.cancel'], 'not_exercised');
  });

  test('An agent whose card has no streams need not know the method of one', async (t: TestContext) => {
    const { url } = await startOdd(t, (one, response) => {
      if (one.target === '/card') json(response, { ...cardOf(url), capabilities: {} });
      else goodAgent({ SubscribeToTask: ({ id }, answer) => { error(answer, id, -32601); } })(one, response);
    });
    equal((await check([url, '--card-path', '/card'])).states['errors.unknown_task_stream'], 'not_exercised');
    equal((await check([url])).states['errors.unknown_task_stream'], 'broken');
  });

  test('Idle connections that are closed without a word are told, and those that are closed with one are not', async (t: TestContext) => {
    const closing = (says: boolean): Answer => {
      const timers = new WeakMap<object, NodeJS.Timeout>();
      return (asked, response) => {
        if (says) response.setHeader('connection', 'close');
        const { socket } = response;
        if (socket !== null) {
          clearTimeout(timers.get(socket));
          timers.set(socket, setTimeout(() => socket.end(), 400));
        }
        goodAgent()(asked, response);
      };
    };
    const silent = await startOdd(t, closing(false));
    const honest = await startOdd(t, closing(true));
    const [one, other] = await Promise.all([check([silent.url]), check([honest.url])]);
    deepEqual([one.states['http.keep_alive'], other.states['http.keep_alive']], ['broken', 'kept']);
  });

  test('An agent that is not there, or turns callers away, is not checked', async (t: TestContext) => {
    equal((await check(['http://127.0.0.1:1/'])).code, 6);
    equal((await check(['http://127.0.0.1:1/', '--exact'])).code, 6);
    const { url } = await startOdd(t, (_, response) => response.writeHead(401).end());
    const { code, lines, states } = await check([url]);
    deepEqual([code, lines, states], [6, [], {}]);
    match((await cli(['check', url])).stderr, /hint: credentials: --header-env/);
  });

  test('http: is broken to another machine, and not on this one', (t: TestContext) => {
    const connections = new Connections();
    t.after(() => {
      connections.close();
    });
    const states = ['http://agent.test/', 'http://127.0.0.1/', 'https://agent.test/'].map((url) => judgeTls(url, connections).state);
    deepEqual(states, ['broken', 'not_exercised', 'not_exercised']);
  });

  test('A person gets one line a rule, and the numbers', async (t: TestContext) => {
    const { url } = await startOdd(t, goodAgent({ version: ({ id }, response) => { error(response, id, -32001); } }));
    const { stdout } = await cli(['check', url]);
    match(stdout, /^✓ kept {10} request ids {8}every answer has its request's id \(6 answers\)$/m);
    match(stdout, /^✗ broken {8} wrong version {6}error -32001 — tell its owner: answer with the JSON-RPC error -32009 \(VersionNotSupportedError\)$/m);
    match(stdout, /^– not exercised {2}message {12}sends a message: only with --send$/m);
    match(stdout, /\n\n\d+ kept, 1 broken, \d+ not exercised\n$/);
  });
});

describe('check of a card', { concurrency: true }, () => {
  /** An agent whose card is at `/card`. */
  async function withCard(t: TestContext, card: (url: string) => unknown, argv: readonly string[] = []) {
    const { url, asked } = await startOdd(t, (one, response) => {
      if (one.target === '/card') json(response, card(url));
      else if (one.target === '/none') response.writeHead(404).end();
      else goodAgent()(one, response);
    });
    return { ...(await check([url, '--card-path', '/card', ...argv])), asked, url };
  }

  test('One that is malformed is broken, and nothing is called', async (t) => {
    const { code, states, asked } = await withCard(t, () => ({ name: 1 }));
    deepEqual([code, states], [1, { card: 'broken a2a.schema', 'card.signature': 'not_exercised', 'card.interface': 'not_exercised' }]);
    equal(asked.length, 1);
  });

  test('None at all is broken', async (t) => {
    const { code, states } = await withCard(t, () => ({}), ['--card-path', '/none']);
    deepEqual([code, states['card']], [1, 'broken http.status']);
  });

  test('One without an interface that is spoken here is broken', async (t) => {
    const { code, states } = await withCard(t, (url) => ({ ...cardOf(url), supportedInterfaces: [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }] }));
    deepEqual([code, states['card'], states['card.interface']], [1, 'kept', 'broken card.interface']);
  });

  test('One whose interface is elsewhere is broken, and the base URL stands in for it', async (t) => {
    const { states, asked } = await withCard(t, () => cardOf('http://elsewhere.test/'));
    deepEqual([names(states, 'broken'), states['errors.unknown_task']], [['card.interface'], 'kept']);
    ok(asked.length > 3);
  });

  test('One that says there are no streams has none checked', async (t) => {
    const { states } = await withCard(t, (url) => ({ ...cardOf(url), capabilities: {} }), ['--send']);
    deepEqual([states['stream.lifecycle'], states['tasks.send']], ['not_exercised', 'kept']);
  });

  test('A signature is held against the keys that are given', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'a2a-strict-check-'));
    t.after(() => {
      rmSync(folder, { recursive: true });
    });
    const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
    const file = join(folder, 'keys.json');
    writeFileSync(file, JSON.stringify({ keys: [{ ...jwk, kid: 'one' }] }));
    const signed = (url: string): object => ({ ...cardOf(url), signatures: [{ protected: 'eyJhbGciOiJFUzI1NiJ9', signature: 'AAAA' }] });
    const states = await Promise.all([
      withCard(t, signed).then((one) => one.states['card.signature']),
      withCard(t, signed, ['--jwks', file]).then((one) => one.states['card.signature']),
      withCard(t, cardOf, ['--jwks', file]).then((one) => one.states['card.signature']),
      withCard(t, cardOf, ['--jwks', file, '--require-signature']).then((one) => one.states['card.signature']),
    ]);
    deepEqual(states, ['not_exercised', 'broken card.signature', 'not_exercised', 'broken card.unsigned']);
    // Nothing is sent where a card says that somebody else may have written.
    const forged = await withCard(t, signed, ['--jwks', file, '--send']);
    deepEqual([forged.states['errors.unknown_task'], forged.states['tasks.send'], forged.asked.length], [undefined, undefined, 1]);
    const url = (await withCard(t, signed)).url;
    equal((await cli(['get', url, 'task-1', '--card-path', '/card', '--jwks', file])).code, 4);
    match((await cli(['card', url, '--card-path', '/card'])).stdout, /^signature +not verified: give the keys with --jwks$/m);
  });
});
