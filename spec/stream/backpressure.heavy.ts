/** What streams cost in memory where they are very long, or their events very large. Run with `--expose-gc`. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { StrictClient, userText } from '../../lib/index.js';
import { runChild } from './child.js';

const MIB = 1024 * 1024;

/** An agent in a process of its own, so that its memory is not the client's. */
class RemoteAgent implements AsyncDisposable {
  readonly port: number;
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  private constructor(port: number, process: ChildProcessByStdio<Writable, Readable, null>, lines: AsyncIterator<string>) {
    this.port = port;
    this.#process = process;
    this.#lines = lines;
  }

  /** One that brings so many artifacts of so many bytes. */
  static async start(artifacts: number, bytes: number): Promise<RemoteAgent> {
    const file = fileURLToPath(new URL('./children/agent.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', file, `${artifacts}`, `${bytes}`], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return new RemoteAgent(Number((await lines.next()).value), child, lines);
  }

  /** How many events it could write so far. */
  async written(): Promise<number> {
    this.#process.stdin.write('\n');
    return Number((await this.#lines.next()).value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.stdin.end();
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
  }
}

/** Reads all that the agent has to say; `pause` is told how many events have come. */
async function consume(
  client: StrictClient,
  agent: RemoteAgent,
  pause: (events: number) => Promise<unknown> | undefined,
): Promise<[number, number]> {
  const options = {
    endpoint: `http://127.0.0.1:${agent.port}/`,
    protocolVersion: '1.0',
    maxResponseBytes: MIB,
    maxEventBytes: MIB,
  } as const;
  let events = 0;
  let bytes = 0;
  for await (const { raw } of client.sendStreamingMessage(options, { message: userText('hi') })) {
    bytes += raw.length;
    await pause(++events);
  }
  return [events, bytes];
}

test('Two gibibytes to a slow consumer take less than 64 MiB of resident memory', async (t) => {
  assert.ok(globalThis.gc, 'needs --expose-gc');
  const size = 4 * 1024;
  const artifacts = (2048 * MIB) / size;
  const dispatcher = new Agent();
  const client = new StrictClient(dispatcher);
  {
    // What the process grows by once, for its code and its young objects, is no matter of the stream's length.
    await using agent = await RemoteAgent.start(artifacts / 64, size);
    await consume(client, agent, () => undefined);
  }
  globalThis.gc();
  const before = process.memoryUsage().rss;
  let most = before;
  let furthest = 0;
  await using agent = await RemoteAgent.start(artifacts, size);

  async function measure(events: number): Promise<void> {
    most = Math.max(most, process.memoryUsage().rss);
    // Where other processes take the machine, the collector falls behind: that is not what is measured.
    globalThis.gc?.();
    // Time enough for an agent whom nobody held back to write whatever it has.
    await sleep(40);
    furthest = Math.max(furthest, (await agent.written()) - events);
  }
  const [events, bytes] = await consume(client, agent, (sofar) => {
    if (sofar % 8192 === 0) return measure(sofar);
    return sofar % 128 === 0 ? sleep(1) : undefined;
  });
  const grown = (most - before) / MIB;
  const ahead = (furthest * size) / MIB;
  t.diagnostic(`${(bytes / MIB).toFixed(0)} MiB read, ${grown.toFixed(1)} MiB grown, the agent ${ahead.toFixed(1)} MiB ahead at most`);
  assert.equal(events, artifacts + 2);
  assert.ok(bytes >= 2048 * MIB);
  // What the kernel holds between the two is some megabytes at most.
  assert.ok(ahead < 32, `the agent was ${ahead} MiB ahead`);
  assert.ok(grown < 64, `${grown} MiB grown`);
  await dispatcher.destroy();
});

test('An event of 64 MiB at its bound takes memory linear in its size, and one byte more is refused', async (t) => {
  const grown: number[] = [];
  for (const size of [16, 32, 64]) {
    await using agent = await RemoteAgent.start(1, size * MIB);
    const report = (await runChild('event-size', `${agent.port}`, `${size * MIB}`)) as { raw: number; grown: number; rule: string };
    assert.ok(report.raw > size * MIB, 'it was delivered');
    assert.equal(report.rule, 'limit.event_bytes');
    grown.push(report.grown / MIB);
  }
  t.diagnostic(`16, 32 and 64 MiB: ${grown.map((size) => size.toFixed(0)).join(', ')} MiB grown`);
  const [small = 0, middle = 0, large = 0] = grown;
  assert.ok(small > 16, 'what is measured holds the event');
  // Twice the size, twice the memory; half as much again for the luck of the collector.
  assert.ok(middle / small < 3, `${middle} after ${small}`);
  assert.ok(large / middle < 3, `${large} after ${middle}`);
  assert.ok(large / small < 6, `${large} after ${small}`);
  assert.ok(large < 64 * 8, `${large} MiB for 64`);
});
