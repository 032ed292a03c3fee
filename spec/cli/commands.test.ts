import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { startAgent, type RunningAgent } from '../demo/agent.js';
import { startTextAgent } from '../text/agents.js';
import { cli, values } from './cli.js';
import { goodAgent } from './good_agent.js';
import { events, json, jsonText, startOdd, stream, taskOf, taskText } from './odd_agent.js';

describe('The commands at an agent of the official SDK', { concurrency: true }, () => {
  let agent: RunningAgent;
  before(async () => {
    agent = await startAgent();
  });
  after(() => agent.close());

  test('card shows what the agent offers, and where calls go', async () => {
    const { code, stdout, stderr } = await cli(['card', agent.url]);
    deepEqual([code, stderr], [0, '']);
    match(stdout, /^agent +Measurer 1\.0\.0$/m);
    match(stdout, /^signature +none$/m);
    ok(stdout.includes(`calls go to  ${agent.url}  A2A 1.0`));
    match(stdout, /^capabilities streaming$/m);
  });

  test('card selects the dialect that is asked for, and shows where there is none', async () => {
    const [{ selected }] = values((await cli(['card', agent.url, '--dialect', '0.3', '--json'])).stdout) as [{ selected: unknown }];
    deepEqual(selected, { endpoint: agent.url, protocolVersion: '0.3', tenant: '', reason: 'base_match' });
  });

  for (const dialect of ['1.0', '0.3']) {
    test(`send prints the text of the answer, in ${dialect}`, async () => {
      const { code, stdout, stderr } = await cli(['send', agent.url, 'one', 'two', '--dialect', dialect]);
      deepEqual([code, stderr], [0, '']);
      match(stdout, /^words 2bytes 7sha256 \w{64}\n$/);
    });

    test(`stream prints it as it arrives, in ${dialect}, at the exact endpoint too`, async () => {
      const seen: string[] = [];
      const argv = ['stream', agent.url, '--exact', '--dialect', dialect, '-'];
      const { code, stdout } = await cli(argv, { stdin: 'one two', onOutput: (so_far) => seen.push(so_far) });
      equal(code, 0);
      match(stdout, /^words 2bytes 7sha256 \w{64}\n$/);
      deepEqual(seen.slice(0, 2), ['words 2', 'words 2bytes 7']);
    });
  }

  test('A dialect may be probed', async () => {
    const { code, stdout } = await cli(['send', agent.url, '--exact', '--dialect', 'probe', 'one']);
    equal(code, 0);
    match(stdout, /^words 1/);
  });

  test('get shows a task, and list finds it by its context and state', async () => {
    const [sent] = values((await cli(['send', agent.url, 'a', 'b', '--json'])).stdout) as [{ result: { task: { id: string; contextId: string } } }];
    const { id, contextId } = sent.result.task;
    const got = await cli(['get', agent.url, id, '--history', '1']);
    match(got.stdout, new RegExp(`^task +${id}\ncontext +${contextId}\nstate +completed\n(.*\n)*artifact measures\n +words 2.*\nuser +a b\n$`));
    const listed = await cli(['list', agent.url, '--context-id', contextId, '--state', 'completed']);
    match(listed.stdout, new RegExp(`^${id}  completed +\\S+ +${contextId}\n$`));
    const none = await cli(['list', agent.url, '--context-id', contextId, '--state', 'working']);
    deepEqual([none.code, none.stdout], [0, '']);
  });

  test('list says how to go on', async () => {
    await cli(['send', agent.url, 'a']);
    await cli(['send', agent.url, 'b']);
    const { stderr } = await cli(['list', agent.url, '--page-size', '1']);
    const [, token = ''] = /^more: --page-token (\S+)\n$/.exec(stderr) ?? [];
    const { code, stdout } = await cli(['list', agent.url, '--page-size', '1', '--page-token', token]);
    deepEqual([code, stdout.split('\n').length], [0, 2]);
  });

  test('call calls any method, with parameters from stdin too', async () => {
    const { code, stdout } = await cli(['call', agent.url, 'ListTasks', '-'], { stdin: '{"pageSize":1}' });
    equal(code, 0);
    equal((JSON.parse(stdout) as { pageSize: number }).pageSize, 1);
    ok(stdout.includes('\n  "pageSize": 1'));
  });

  test("cancel of what there is none of is the agent's own error, told with its words", async () => {
    const { code, stdout, stderr } = await cli(['cancel', agent.url, 'no-such-task']);
    deepEqual([code, stdout], [5, '']);
    match(stderr, /^a2a-strict: remote_agent \(remote\.error\): the agent's own error\n {2}status 200, code -32001\n {2}the agent says: Task not found/);
    const [failure] = values((await cli(['cancel', agent.url, 'no-such-task', '--json'])).stdout);
    deepEqual(failure?.['failure'], { kind: 'remote_agent', rule: 'remote.error', delivery: 'answered', status: 200, code: -32001 });
  });

  test('An a2a: address is the endpoint /invoke', async (t: TestContext) => {
    const { address, heard } = await startTextAgent(t, (text) => ({ says: `you said ${text}` }));
    const { code, stdout } = await cli(['send', address, 'hi']);
    deepEqual([code, stdout, heard], [0, 'you said hi\n', ['hi']]);
  });
});

describe('Answers', { concurrency: true }, () => {
  test('A task that was rejected is a failure, with why', async (t: TestContext) => {
    const { address } = await startTextAgent(t, () => ({ rejects: 'not today' }));
    for (const command of ['send', 'stream']) {
      const { code, stdout, stderr } = await cli([command, address, 'hi']);
      deepEqual([code, stdout], [5, ''], command);
      match(stderr, /remote_agent \(text\.failed\)[^]*the agent says: not today/);
    }
    const [result, failure, ...others] = values((await cli(['send', address, 'hi', '--json'])).stdout);
    ok(JSON.stringify(result).includes('not today'));
    deepEqual([failure?.['failure'], others], [{ kind: 'remote_agent', rule: 'text.failed', delivery: 'answered' }, []]);
  });

  test('Every command works at an exact endpoint, in JSON too, and asks for no card', async (t: TestContext) => {
    const { url, asked } = await startOdd(t, goodAgent());
    const exact = ['--exact', '--json', '--tenant', 'acme'];
    const commands = [['get', url, 'task-1'], ['cancel', url, 'task-1'], ['list', url], ['send', url, 'hi'], ['stream', url, 'hi']];
    for (const argv of commands) {
      const { code, stdout } = await cli([...argv, ...exact]);
      deepEqual([code, values(stdout).every((value) => 'result' in value)], [0, true], argv[0]);
    }
    deepEqual(await cli(['stream', url, '--task-id', 'task-9', ...exact]).then(({ code }) => code), 5);
    deepEqual(await cli(['call', url, 'NoSuchMethod', '[]', ...exact]).then(({ code }) => code), 5);
    ok(asked.every(({ target, body }) => target === '/' && (body.includes('"tenant":"acme"') || body.includes('NoSuchMethod'))));
  });

  test('card shows all that a card may say, and nothing of what it does not', async (t: TestContext) => {
    const { url } = await startOdd(t, ({ target }, response) => {
      const full = {
        name: 'Full',
        version: '3',
        provider: { organization: 'Acme\nsignature    verified', url: 'https://acme.test' },
        supportedInterfaces: [{ url: 'https://elsewhere.test/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'acme' }],
        capabilities: { pushNotifications: true, extendedAgentCard: true, extensions: [{ uri: 'urn:x', required: true }, { uri: 'urn:y' }] },
        securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
        skills: [{ id: 'add', name: 'Adds', description: 'Adds numbers.', tags: [] }],
      };
      json(response, target === '/full' ? full : { name: 'Bare' });
    });
    const full = await cli(['card', url, '--card-path', '/full']);
    equal(
      full.stdout.replaceAll(url, 'URL/').replace(/, \d+ bytes/, ''),
      [
        'agent        Full 3',
        'provider     Acme␊signature    verified https://acme.test',
        'card         URL/full (1.0)',
        'signature    none',
        'interfaces   JSONRPC 1.0  https://elsewhere.test/',
        'calls go to  URL/  A2A 1.0, tenant acme',
        '             (the base URL stands in for one on another origin, see --allow-cross-origin-interfaces)',
        'capabilities push notifications, extended card',
        'extensions   urn:x (required)',
        '             urn:y',
        'credentials  key: apiKeySecurityScheme',
        'skills       add: Adds: Adds numbers.',
        '',
      ].join('\n'),
    );
    const bare = await cli(['card', url, '--card-path', '/bare']);
    deepEqual([bare.code, bare.stdout.split('\n').map((line) => line.slice(0, 12).trim())], [0, ['agent', 'card', 'signature', 'calls go to', 'capabilities', '']]);
    match(bare.stdout, /nowhere: there is no JSON-RPC interface/);
    const [value] = values((await cli(['card', url, '--card-path', '/bare', '--json'])).stdout);
    deepEqual([value?.['selected'], value?.['signedBy'], value?.['card']], [null, null, { name: 'Bare' }]);
  });

  test('JSON is what the agent wrote, byte for byte, but for its line breaks', async (t: TestContext) => {
    const odd = '{ "task" : {"id":"t",\n"status":{"state":"TASK_STATE_COMPLETED"}, "x":1.50e+1,\r\n"y":"\\u0041é\u009b" } }';
    const { url } = await startOdd(t, ({ id }, response) => {
      jsonText(response, `{"jsonrpc":"2.0","id":"${id}","result":${odd}}`);
    });
    const { stdout } = await cli(['send', url, 'hi', '--json']);
    equal(stdout, `{"result":${odd.replaceAll(/[\r\n]/g, ' ')}}\n`);
    // At a terminal it says the same, but cannot drive it.
    const shown = await cli(['send', url, 'hi', '--json'], { terminal: true });
    ok(!shown.stdout.includes('\u009b'));
    deepEqual(values(shown.stdout), values(stdout));
  });

  test('Each event is one line of JSON, with its id, and a failure is the last', async (t: TestContext) => {
    const { url } = await startOdd(t, ({ id }, response) => {
      const frame = (eventId: string, result: string): string => `id: ${eventId}\ndata: {"jsonrpc":"2.0","id":"${id}","result":${result}}\n\n`;
      events(response, [frame('a', `{"task":${taskText('', 'TASK_STATE_WORKING')}}`), frame('a', '{}')]);
    });
    const { code, stdout, stderr } = await cli(['stream', url, 'hi', '--json']);
    deepEqual([code, stderr], [4, '']);
    equal(
      stdout,
      `{"id":"a","result":{"task":${taskText('', 'TASK_STATE_WORKING')}}}\n{"failure":{"kind":"protocol","rule":"sse.id_duplicate","delivery":"answered"}}\n`,
    );
  });

  test('A stream goes on with a task, and a text with a task and a context', async (t: TestContext) => {
    const { url, asked } = await startOdd(t, ({ id }, response) => {
      stream(response, id, [`{"task":${taskText('all of it')}}`]);
    });
    deepEqual(await cli(['stream', url, '--task-id', 'task-1']).then(({ code, stdout }) => [code, stdout]), [0, 'all of it\n']);
    await cli(['stream', url, 'more', '--task-id', 'task-1', '--context-id', 'context-1']);
    const params = asked.filter(({ method }) => method !== '').map(({ body }) => (JSON.parse(body) as { params: Record<string, unknown> }).params);
    deepEqual(params[0], { id: 'task-1' });
    const { taskId, contextId, parts } = params[1]?.['message'] as Record<string, unknown>;
    deepEqual([taskId, contextId, parts], ['task-1', 'context-1', [{ text: 'more' }]]);
  });

  test('What came before a failure is printed, and the failure begins on a line of its own', async (t: TestContext) => {
    const { url } = await startOdd(t, ({ id }, response) => {
      stream(response, id, [`{"task":${taskText('half', 'TASK_STATE_WORKING')}}`]);
    });
    const { code, stdout, stderr, both } = await cli(['stream', url, 'hi'], { terminal: true });
    deepEqual([code, stdout], [6, 'half\n']);
    match(stderr, /stream\.incomplete/);
    match(both, /half\n.*a2a-strict: unavailable/);
  });

  test("An agent cannot drive the user's terminal, whatever it says and wherever", async (t: TestContext) => {
    const evil = '\x1b]0;owned\x07\x1b[2J\u009b31m\u202egnp.exe\rfake';
    const { url } = await startOdd(t, ({ id, method }, response) => {
      const task = taskOf(evil);
      if (method === 'SendStreamingMessage') stream(response, id, [JSON.stringify({ task: { ...task, artifacts: [{ artifactId: evil, parts: [{ text: evil }] }] } })]);
      else if (method === 'GetTask') json(response, { jsonrpc: '2.0', id, error: { code: -32001, message: evil } });
      else if (method === 'ListTasks') json(response, { jsonrpc: '2.0', id, result: { tasks: [{ ...task, contextId: evil }], nextPageToken: evil } });
      else if (method === 'CancelTask') json(response, { jsonrpc: '2.0', id, result: { ...task, contextId: evil, artifacts: [{ artifactId: evil, name: evil, parts: [{ text: evil }] }] } });
      else json(response, { jsonrpc: '2.0', id, result: { task, [evil]: evil } });
    });
    const dangerous = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/;
    const argvs = [['send', url, 'hi'], ['stream', url, 'hi'], ['get', url, 'task-1'], ['list', url], ['cancel', url, 'task-1'], ['call', url, 'm'], ['check', url, '--send']];
    for (const argv of argvs) {
      const plain = await cli(argv);
      ok(!dangerous.test(plain.both), argv[0]);
      ok(argv[0] === 'check' || plain.both.length > 0, argv[0]);
    }
    // At a terminal the only escapes are our own.
    for (const argv of argvs.slice(0, 6)) {
      const own = (await cli(argv, { terminal: true })).both.replaceAll(/\x1b\[(\d*m|K)|\r(?=\x1b)/g, '');
      ok(!dangerous.test(own), argv[0]);
    }
  });

  test('A text of several lines does not look like lines of ours', async (t: TestContext) => {
    const { url } = await startOdd(t, ({ id }, response) => {
      jsonText(response, `{"jsonrpc":"2.0","id":"${id}","result":${taskText('fine\nstate    completed', 'TASK_STATE_FAILED')}}`);
    });
    const { stdout } = await cli(['get', url, 'task-1']);
    deepEqual(stdout.match(/^state .*$/gm), ['state    failed']);
    match(stdout, /^says +fine\n {9}state {4}completed$/m);
  });

  test('A task that waits for something is told, also where nobody looks', async (t: TestContext) => {
    const { url } = await startOdd(t, ({ id }, response) => {
      jsonText(response, `{"jsonrpc":"2.0","id":"${id}","result":{"task":${taskText('which one?', 'TASK_STATE_INPUT_REQUIRED')}}}`);
    });
    const { code, stdout, stderr } = await cli(['send', url, 'hi']);
    deepEqual([code, stdout, stderr], [0, 'which one?\n', 'input-required, task task-1, context context-1\n']);
  });

  test('Parts that are no text are counted, and an answer without any is not silent', async (t: TestContext) => {
    const { url } = await startOdd(t, ({ id, method }, response) => {
      const task = { id: 't', status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ artifactId: 'a', parts: [{ data: 1 }, { url: 'http://x.test' }] }] };
      json(response, { jsonrpc: '2.0', id, result: method === 'GetTask' ? task : { task } });
    });
    match((await cli(['get', url, 't'])).stdout, /^artifact a\n +\[2 parts that are no text\]$/m);
    match((await cli(['send', url, 'hi'], { terminal: true })).stderr, /no text; --json shows the whole answer/);
  });
});

describe('Failures by kind', { concurrency: true }, () => {
  test('Each kind has its exit code, and what is told of it holds nothing of the address', async (t: TestContext) => {
    const { url } = await startOdd(t, ({ id, target }, response) => {
      if (target.startsWith('/id')) json(response, { jsonrpc: '2.0', id: `${id}0`, result: {} });
      else if (target.startsWith('/status')) response.writeHead(401, { 'retry-after': '7' }).end();
      else if (target.startsWith('/missing')) response.writeHead(404).end();
      else if (target.startsWith('/large')) json(response, { jsonrpc: '2.0', id, result: 'x'.repeat(2000) });
      else if (!target.startsWith('/never')) response.writeHead(302, { location: '/' }).end();
    });
    const at = (path: string, ...others: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
      cli(['get', `${url}${path}?key=fake-key-77`, 't', '--exact', ...others]);
    const told = await Promise.all([
      at('id'),
      at('status'),
      at('missing'),
      at('large', '--max-response-bytes', '1K'),
      at('never', '--timeout', '200ms'),
      at('redirect'),
      at('id', '--network', 'public'),
    ]);
    deepEqual(told.map(({ code }) => code), [4, 6, 6, 8, 7, 6, 3]);
    const [id, status, missing, large, never, redirect, network] = told.map(({ stderr }) => stderr);
    match(id!, /protocol \(jsonrpc\.id\): the answer's id is not the request's\n$/);
    match(status!, /http\.status[^]*status 401, may be tried again in 7 s\n {2}hint: credentials/);
    match(missing!, /status 404\n {2}hint: is this the right URL/);
    match(large!, /limit\.response_bytes/);
    match(never!, /deadline\.total[^]*the agent may have received the request/);
    match(redirect!, /http\.redirect[^]*status 302\n {2}hint: give the final URL/);
    match(network!, /network\.refused\)[^]*public does not allow 127\.0\.0\.1[^]*nothing was sent/);
    for (const { stdout, stderr } of told) ok(!(stdout + stderr).includes('fake-key-77'));
  });

  test('No agent at all is told by what the system calls it', async () => {
    const { code, stderr } = await cli(['send', 'http://127.0.0.1:1/', 'hi']);
    equal(code, 6);
    match(stderr, /http\.connect\): no connection \(ECONNREFUSED\)\n {2}nothing was sent\n {2}hint: is the agent running/);
  });
});
