/**
 * `npm start -- "any text"`: a real A2A agent, called through `StrictClient` alone, in both dialects; then what is refused, and what can
 * be done about a stream that was cut. Each line says what was proven. The exit code is 0 only if all of it was.
 */
import { deepEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { Agent } from 'undici';
import {
  A2A_SDK_VERSION,
  StrictClient,
  TaskState,
  failureOf,
  userText,
  type EventStream,
  type Failure,
  type ProtocolVersion,
  type SendMessageResult,
  type StreamEvent,
  type StreamOptions,
  type Task,
} from '../../lib/index.js';
import { WAIT, measure, startAgent, textOf } from './agent.js';

const text = process.argv.slice(2).join(' ') || 'Hello, agent! 你好 👋';
const expected = measure(text);

// ---- What is printed ----

let passed = 0;
let failed = 0;

function say(line = ''): void {
  process.stdout.write(`${line}\n`);
}

/** One thing to prove: `prove` gives the words for what it has proven, or throws. */
async function check(name: string, prove: () => Promise<string>): Promise<void> {
  let mark = styleText('green', '✓');
  let words: string;
  try {
    words = await prove();
    passed++;
  } catch (error) {
    mark = styleText('red', '✗');
    words = error instanceof Error ? error.message : String(error);
    failed++;
  }
  say(`  ${mark} ${name.padEnd(21)} ${words}`);
}

/** The beginning of a text on one line, whatever is in it. */
function shown(value: string): string {
  const quoted = JSON.stringify(value);
  // Whole characters, as a reader counts them: an emoji may be many code points.
  const end = [...new Intl.Segmenter().segment(quoted.slice(0, 1000))][72]?.index;
  return end === undefined ? quoted : `${quoted.slice(0, end)}…`;
}

function short(chunk: string): string {
  return chunk.replace(/^(sha256 .{16}).*$/, '$1…');
}

/** Prints events as they arrive. */
function printer(): (event: StreamEvent) => void {
  const startedAt = performance.now();
  return (event) => {
    const milliseconds = Math.round(performance.now() - startedAt);
    say(styleText('dim', `    ${String(milliseconds).padStart(4)} ms   ${describe(event)}`));
  };
}

/** What an event says, in a few words. */
function describe(event: StreamEvent): string {
  if (event.$case === 'artifactUpdate' && event.value.artifact !== undefined) return `chunk   ${short(textOf(event.value.artifact))}`;
  if (event.$case === 'task') return ['task    ' + stateOf(event.value), ...chunksOf(event.value).map(short)].join(', ');
  if (event.$case === 'statusUpdate') return `status  ${stateOf(event.value)}`;
  return event.$case;
}

function stateOf({ status }: Pick<Task, 'status'>): string {
  return TaskState[status?.state ?? TaskState.UNRECOGNIZED].replace('TASK_STATE_', '').toLowerCase();
}

// ---- What is expected ----

/** The one failure that a call ends with. */
async function failureFrom(call: Promise<unknown>): Promise<Failure> {
  let answer: unknown;
  try {
    answer = await call;
  } catch (error) {
    const failure = failureOf(error);
    if (failure !== undefined) return failure;
    throw error;
  }
  throw new Error(`no failure, but ${JSON.stringify(answer)}`);
}

function taskOf(result: SendMessageResult): Task {
  if (result.$case !== 'task') throw new Error('the agent answered with a message, not a task');
  return result.value;
}

function chunksOf({ artifacts }: Task): string[] {
  return artifacts.flatMap(({ parts }) => parts.map((part) => textOf({ parts: [part] })));
}

/** Follows a stream to its end. The task it is about, and the chunks that it tells, go into `seen`. */
async function follow(stream: EventStream, seen: Seen, each: (event: StreamEvent) => void): Promise<void> {
  for await (const { event } of stream) {
    each(event);
    seen.events++;
    if (event.$case === 'task') {
      seen.taskId = event.value.id;
      seen.chunks.push(...chunksOf(event.value));
    } else if (event.$case === 'artifactUpdate' && event.value.artifact !== undefined) {
      seen.chunks.push(textOf(event.value.artifact));
    }
  }
}

interface Seen {
  events: number;
  taskId: string;
  chunks: string[];
}

const nothingSeen = (): Seen => ({ events: 0, taskId: '', chunks: [] });

// ---- The agent and its client ----

/** While it is pending, the agent has sent a task's first chunk and holds back the others. */
let mayGoOn = Promise.resolve();

const agent = await startAgent({
  cutAfterEvents: 2,
  beforeChunk: async (chunk) => {
    // Slow enough to see that events arrive one by one.
    await sleep(20);
    if (chunk > 0) await mayGoOn;
  },
});
const hostile = createServer((request, response) => {
  void answerWithId(request).then((body) => {
    response.setHeader('content-type', 'application/json').end(body);
  });
}).listen(0, '127.0.0.1');
await once(hostile, 'listening');

const dispatcher = new Agent();
const client = new StrictClient(dispatcher);

/** One object serves unary calls and streams. */
const policy = {
  endpoint: agent.url,
  maxResponseBytes: 4 * 1024 * 1024,
  maxEventBytes: 4 * 1024 * 1024,
  timeoutMs: 30_000,
  eventIds: 'optional',
} as const;

say(`${styleText('bold', 'text')}   ${shown(text)}`);
say(`${styleText('bold', 'here')}   ${expected.join(', ')}`);
say(`${styleText('bold', 'agent')}  ${agent.url}, made with the official SDK's server ${A2A_SDK_VERSION}`);

try {
  await callAgent('1.0');
  await callAgent('0.3');
  await meetRefusals({ ...policy, protocolVersion: '1.0' });
  await resumeCutStream({ ...policy, protocolVersion: '1.0' });
} finally {
  hostile.close();
  hostile.closeAllConnections();
  await Promise.all([agent.close(), dispatcher.close()]);
}

say();
say(failed === 0 ? `All ${String(passed)} checks passed.` : `${String(failed)} of ${String(passed + failed)} checks failed.`);
process.exitCode = failed === 0 ? 0 : 1;

// ---- What is proven ----

async function callAgent(protocolVersion: ProtocolVersion): Promise<void> {
  const options: StreamOptions = { ...policy, protocolVersion };
  const taskIds: string[] = [];
  say();
  say(styleText('bold', `A2A ${protocolVersion}`));

  await check('sendMessage', async () => {
    const { result } = await client.sendMessage(options, { message: userText(text) });
    const task = taskOf(result);
    taskIds.push(task.id);
    deepEqual([stateOf(task), ...chunksOf(task)], ['completed', ...expected]);
    return `the agent says ${chunksOf(task).map(short).join(', ')}: as counted here`;
  });

  await check('sendStreamingMessage', async () => {
    const seen = nothingSeen();
    // Both dialects give the same events; once is enough to look at.
    const each = protocolVersion === '1.0' ? printer() : () => undefined;
    await follow(client.sendStreamingMessage(options, { message: userText(text) }), seen, each);
    taskIds.push(seen.taskId);
    deepEqual(seen.chunks, expected);
    return `${String(seen.events)} events as they came: the same numbers, and the agent's own end`;
  });

  await check('getTask', async () => {
    const id = taskIds.at(-1) ?? '';
    const { result: task } = await client.getTask(options, { id });
    deepEqual([task.id, stateOf(task), ...chunksOf(task)], [id, 'completed', ...expected]);
    return 'that task, as its stream told it';
  });

  await check('cancelTask', async () => {
    const message = { ...userText(text), metadata: WAIT };
    const { result } = await client.sendMessage(options, { message, configuration: { returnImmediately: true } });
    const waiting = taskOf(result);
    taskIds.push(waiting.id);
    const { result: canceled } = await client.cancelTask(options, { id: waiting.id });
    deepEqual([stateOf(waiting), canceled.id, stateOf(canceled)], ['working', waiting.id, 'canceled']);
    return 'a task that waited: working, then canceled';
  });

  await check('listTasks', async () => {
    if (protocolVersion === '0.3') {
      const failure = await failureFrom(client.listTasks(options));
      deepEqual([failure.rule, failure.delivery], ['options.operation', 'not_sent']);
      return `0.3 has no such call: ${failure.kind}, ${failure.rule}, nothing sent`;
    }
    const { result } = await client.listTasks(options);
    deepEqual(result.tasks.map(({ id }) => id).sort(), [...taskIds].sort());
    return `the ${String(result.tasks.length)} tasks of above, and no other`;
  });

  await check('getTask, unknown id', async () => {
    const failure = await failureFrom(client.getTask(options, { id: 'no-such-task' }));
    deepEqual([failure.kind, failure.code], ['remote_agent', -32001]);
    return `the agent's own error: ${failure.kind}, code ${String(failure.code)}`;
  });
}

async function meetRefusals(options: StreamOptions): Promise<void> {
  say();
  say(styleText('bold', 'Refused'));

  await check('a wrong id', async () => {
    const { port } = hostile.address() as AddressInfo;
    const ask = (path: string): Promise<unknown> =>
      client.getTask({ ...options, endpoint: `http://127.0.0.1:${String(port)}/${path}` }, { id: 'task' });
    await ask('right');
    const failure = await failureFrom(ask('wrong'));
    deepEqual([failure.kind, failure.rule], ['protocol', 'jsonrpc.id']);
    return `an answer to another request: ${failure.kind}, ${failure.rule} (with the right id it is taken)`;
  });

  await check('events without ids', async () => {
    const stream = client.sendStreamingMessage({ ...options, eventIds: 'required' }, { message: userText(text) });
    const failure = await failureFrom(stream.next());
    deepEqual([failure.kind, failure.rule], ['protocol', 'sse.id_missing']);
    return `as this server sends them: ${failure.kind}, ${failure.rule} (hence eventIds: 'optional' above)`;
  });
}

async function resumeCutStream(options: StreamOptions): Promise<void> {
  const cut = nothingSeen();
  let goOn = (): void => undefined;
  mayGoOn = new Promise((resolve) => {
    goOn = resolve;
  });
  say();
  say(styleText('bold', 'A stream that the server closes half-way, and what can be done about it'));

  await check('sendStreamingMessage', async () => {
    const stream = client.sendStreamingMessage({ ...options, endpoint: `${agent.url}cut` }, { message: userText(text) });
    const failure = await failureFrom(follow(stream, cut, printer()));
    deepEqual([failure.kind, failure.rule, cut.chunks], ['unavailable', 'stream.incomplete', expected.slice(0, 1)]);
    return `not taken for the end: ${failure.kind}, ${failure.rule}`;
  });

  await check('subscribeToTask', async () => {
    const seen = nothingSeen();
    const stream = client.subscribeToTask(options, { id: cut.taskId });
    const print = printer();
    await follow(stream, seen, (event) => {
      print(event);
      goOn();
    });
    deepEqual([seen.taskId, ...seen.chunks], [cut.taskId, ...expected]);
    return 'the same task went on from where it was: each chunk once, and the end';
  });
  // Whatever went wrong, the agent need not wait.
  goOn();

  await check('getTask', async () => {
    const { result: task } = await client.getTask(options, { id: cut.taskId });
    deepEqual([stateOf(task), ...chunksOf(task)], ['completed', ...expected]);
    return 'completed, nothing lost';
  });
}

/** An answer that is right in everything but, unless asked for at `/right`, its id. */
async function answerWithId(request: IncomingMessage): Promise<string> {
  const { id } = JSON.parse(await readText(request)) as { id: string };
  const result = { id: 'task', contextId: 'context', status: { state: 'TASK_STATE_COMPLETED' } };
  return JSON.stringify({ jsonrpc: '2.0', id: request.url === '/right' ? id : `${id}0`, result });
}
