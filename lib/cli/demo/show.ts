/**
 * The demonstration: a real A2A agent, found by its card and called in both dialects; then what is refused, and what can be done about a
 * stream that was cut. Each line says what was proven.
 */
import type { Task } from '@a2a-js/sdk';
import { deepEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { StrictClient } from '../../client.js';
import type { ProtocolVersion, SendMessageResult } from '../../dialect/dialect.js';
import { userText } from '../../dialect/request.js';
import { fetchAgentCard, probeDialect, selectInterface } from '../../discovery/index.js';
import { failureOf, type Failure } from '../../failure.js';
import type { StreamOptions } from '../../options.js';
import type { EventStream } from '../../stream.js';
import { textOfParts } from '../../text/reply.js';
import { A2A_SDK_VERSION } from '../../versions.js';
import type { StreamEvent } from '../../wire/lifecycle.js';
import type { Output } from '../output.js';
import { startDemoAgent, type DemoAgent } from './agent.js';
import { startHostileAgent, type HostileAgent } from './hostile_agent.js';
import { WAIT, measure } from './measurer.js';
import { Report } from './report.js';
import { chunksOf, describe, nameOfState, short, shown } from './words.js';

const DEFAULT_TEXT = 'Hello, agent! 你好 👋';

/**
 * Shows it all. @returns whether all of it was proven
 * @param signal ends it
 */
export async function show(words: readonly string[], output: Output, signal: AbortSignal): Promise<boolean> {
  const text = words.join(' ') || DEFAULT_TEXT;
  const gate = new Gate();
  const agent = await startDemoAgent((chunk) => gate.pass(chunk), 2);
  const hostile = await startHostileAgent();
  const dispatcher = new Agent();
  try {
    return await new Show(text, { agent, hostile, dispatcher, gate, signal, report: new Report(output, signal) }).run();
  } finally {
    gate.open();
    await Promise.all([agent.close(), hostile.close(), dispatcher.destroy()]);
  }
}

/** Where the agent stops after a task's first chunk, while it is shut. */
class Gate {
  #mayPass = Promise.resolve();
  #open = (): void => undefined;

  async pass(chunk: number): Promise<void> {
    // Slow enough to see that events arrive one by one.
    await sleep(20);
    if (chunk > 0) await this.#mayPass;
  }

  shut(): void {
    this.#mayPass = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
  }
}

interface Stage {
  readonly agent: DemoAgent;
  readonly hostile: HostileAgent;
  readonly dispatcher: Agent;
  readonly gate: Gate;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** What a stream told of a task. */
interface Seen {
  events: number;
  taskId: string;
  readonly chunks: string[];
}

const nothingSeen = (): Seen => ({ events: 0, taskId: '', chunks: [] });

type Each = (event: StreamEvent) => Promise<void>;
const silently: Each = () => Promise.resolve();

class Show {
  readonly #text: string;
  readonly #expected: readonly string[];
  readonly #stage: Stage;
  readonly #client: StrictClient;

  constructor(text: string, stage: Stage) {
    this.#text = text;
    this.#expected = measure(text);
    this.#stage = stage;
    this.#client = new StrictClient(stage.dispatcher);
  }

  async run(): Promise<boolean> {
    const { report, agent } = this.#stage;
    await report.field('text', shown(this.#text));
    await report.field('here', this.#expected.join(', '));
    await report.field('agent', `${agent.url}, made with the official SDK's server ${A2A_SDK_VERSION}`);
    await this.#discover();
    await this.#callAgent('1.0');
    await this.#callAgent('0.3');
    await this.#meetRefusals();
    await this.#resumeCutStream();
    return report.conclude();
  }

  /** One object serves unary calls and streams. */
  #options(protocolVersion: ProtocolVersion = '1.0'): StreamOptions {
    return {
      endpoint: this.#stage.agent.url,
      protocolVersion,
      maxResponseBytes: 4 * 1024 * 1024,
      maxEventBytes: 4 * 1024 * 1024,
      timeoutMs: 30_000,
      eventIds: 'optional',
      signal: this.#stage.signal,
    };
  }

  async #discover(): Promise<void> {
    const { report, agent, dispatcher, signal } = this.#stage;
    await report.title('Discovery');
    await report.check('fetchAgentCard', async () => {
      const { card } = await fetchAgentCard(dispatcher, agent.url, { timeoutMs: 30_000, signal });
      const { endpoint, protocolVersion, reason } = selectInterface(card, { baseUrl: agent.url });
      const { protocolVersion: _, maxEventBytes: _bytes, eventIds: _ids, ...options } = this.#options();
      const probed = await probeDialect(dispatcher, options);
      deepEqual([card.name, endpoint, protocolVersion, reason, probed], ['Measurer', agent.url, '1.0', 'base_match', '1.0']);
      const offered = card.supportedInterfaces.map((one) => one.protocolVersion).join(' and ');
      return `${card.name} offers ${offered}: selected ${protocolVersion}, the dialect it is probed to speak`;
    });
  }

  async #callAgent(protocolVersion: ProtocolVersion): Promise<void> {
    const { report } = this.#stage;
    const options = this.#options(protocolVersion);
    const taskIds: string[] = [];
    await report.title(`A2A ${protocolVersion}`);

    await report.check('sendMessage', async () => {
      const { result } = await this.#client.sendMessage(options, { message: userText(this.#text) });
      const task = taskOf(result);
      taskIds.push(task.id);
      deepEqual([nameOfState(task), ...chunksOf(task)], ['completed', ...this.#expected]);
      return `the agent says ${chunksOf(task).map(short).join(', ')}: as counted here`;
    });

    await report.check('sendStreamingMessage', async () => {
      const seen = nothingSeen();
      // Both dialects give the same events; once is enough to look at.
      const each = protocolVersion === '1.0' ? this.#printer() : silently;
      await follow(this.#client.sendStreamingMessage(options, { message: userText(this.#text) }), seen, each);
      taskIds.push(seen.taskId);
      deepEqual(seen.chunks, this.#expected);
      return `${String(seen.events)} events as they came: the same numbers, and the agent's own end`;
    });

    await report.check('getTask', async () => {
      const id = taskIds.at(-1) ?? '';
      const { result: task } = await this.#client.getTask(options, { id });
      deepEqual([task.id, nameOfState(task), ...chunksOf(task)], [id, 'completed', ...this.#expected]);
      return 'that task, as its stream told it';
    });

    await report.check('cancelTask', async () => {
      const message = { ...userText(this.#text), metadata: WAIT };
      const { result } = await this.#client.sendMessage(options, { message, configuration: { returnImmediately: true } });
      const waiting = taskOf(result);
      taskIds.push(waiting.id);
      const { result: canceled } = await this.#client.cancelTask(options, { id: waiting.id });
      deepEqual([nameOfState(waiting), canceled.id, nameOfState(canceled)], ['working', waiting.id, 'canceled']);
      return 'a task that waited: working, then canceled';
    });

    await report.check('listTasks', async () => {
      if (protocolVersion === '0.3') {
        const failure = await failureFrom(this.#client.listTasks(options));
        deepEqual([failure.rule, failure.delivery], ['options.operation', 'not_sent']);
        return `0.3 has no such call: ${failure.kind}, ${failure.rule}, nothing sent`;
      }
      const { result } = await this.#client.listTasks(options);
      deepEqual(result.tasks.map(({ id }) => id).sort(), [...taskIds].sort());
      return `the ${String(result.tasks.length)} tasks of above, and no other`;
    });

    await report.check('getTask, unknown id', async () => {
      const failure = await failureFrom(this.#client.getTask(options, { id: 'no-such-task' }));
      deepEqual([failure.kind, failure.code], ['remote_agent', -32001]);
      return `the agent's own error: ${failure.kind}, code ${String(failure.code)}`;
    });
  }

  async #meetRefusals(): Promise<void> {
    const { report, hostile } = this.#stage;
    const options = this.#options();
    await report.title('Refused');

    await report.check('a wrong id', async () => {
      const ask = (endpoint: string): Promise<unknown> => this.#client.getTask({ ...options, endpoint }, { id: 'task' });
      await ask(hostile.rightUrl);
      const failure = await failureFrom(ask(hostile.wrongUrl));
      deepEqual([failure.kind, failure.rule], ['protocol', 'jsonrpc.id']);
      return `an answer to another request: ${failure.kind}, ${failure.rule} (with the right id it is taken)`;
    });

    await report.check('events without ids', async () => {
      const stream = this.#client.sendStreamingMessage({ ...options, eventIds: 'required' }, { message: userText(this.#text) });
      const failure = await failureFrom(stream.next());
      deepEqual([failure.kind, failure.rule], ['protocol', 'sse.id_missing']);
      return `as this server sends them: ${failure.kind}, ${failure.rule} (hence eventIds: 'optional' above)`;
    });
  }

  async #resumeCutStream(): Promise<void> {
    const { report, agent, gate } = this.#stage;
    const options = this.#options();
    const cut = nothingSeen();
    gate.shut();
    await report.title('A stream that the server closes half-way, and what can be done about it');

    await report.check('sendStreamingMessage', async () => {
      const stream = this.#client.sendStreamingMessage({ ...options, endpoint: agent.cutUrl }, { message: userText(this.#text) });
      const failure = await failureFrom(follow(stream, cut, this.#printer()));
      deepEqual([failure.kind, failure.rule, cut.chunks], ['unavailable', 'stream.incomplete', this.#expected.slice(0, 1)]);
      return `not taken for the end: ${failure.kind}, ${failure.rule}`;
    });

    await report.check('subscribeToTask', async () => {
      const seen = nothingSeen();
      const print = this.#printer();
      await follow(this.#client.subscribeToTask(options, { id: cut.taskId }), seen, async (event) => {
        await print(event);
        gate.open();
      });
      deepEqual([seen.taskId, ...seen.chunks], [cut.taskId, ...this.#expected]);
      return 'the same task went on from where it was: each chunk once, and the end';
    });
    // Whatever went wrong, the agent need not wait.
    gate.open();

    await report.check('getTask', async () => {
      const { result: task } = await this.#client.getTask(options, { id: cut.taskId });
      deepEqual([nameOfState(task), ...chunksOf(task)], ['completed', ...this.#expected]);
      return 'completed, nothing lost';
    });
  }

  /** Prints events as they arrive. */
  #printer(): Each {
    const { output } = this.#stage.report;
    const startedAt = performance.now();
    return async (event) => {
      const milliseconds = Math.round(performance.now() - startedAt);
      await output.line(output.style('dim', `    ${String(milliseconds).padStart(4)} ms   ${describe(event)}`));
    };
  }
}

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

/** Follows a stream to its end. The task it is about, and the chunks that it tells, go into `seen`. */
async function follow(stream: EventStream, seen: Seen, each: Each): Promise<void> {
  for await (const { event } of stream) {
    await each(event);
    seen.events++;
    if (event.$case === 'task') {
      seen.taskId = event.value.id;
      seen.chunks.push(...chunksOf(event.value));
    } else if (event.$case === 'artifactUpdate' && event.value.artifact !== undefined) {
      seen.chunks.push(textOfParts(event.value.artifact));
    }
  }
}
