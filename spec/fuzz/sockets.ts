/** Raw bytes on real sockets: whatever is sent, and however the connection ends, each call settles once. */
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Agent } from 'undici';
import { answerCases, type AnswerCase } from './arbitraries_answer.js';
import { mutated } from './arbitraries_bytes.js';
import { ID, JSON_HEADERS, verdictOf } from './memory_agent.js';
import { property, type Property } from './runner.js';

interface Plan {
  readonly answer: AnswerCase;
  readonly bytes: Buffer;
  /** Of the bytes, where they are cut into two writes. */
  readonly cut: number;
  readonly end: 'stays open' | 'closes' | 'resets';
}

const TASK = Buffer.from(`{"jsonrpc":"2.0","id":"${ID}","result":{"task":{"id":"task-1","status":{"state":"TASK_STATE_COMPLETED"}}}}`);
const healthy: AnswerCase = {
  operation: 'sendMessage',
  policy: { protocolVersion: '1.0', maxResponseBytes: 1000, maxEventBytes: 1000 },
  status: 200,
  headers: JSON_HEADERS,
  body: TASK,
  sizes: [1],
  ending: 'end',
};
const answers = fc.oneof({ weight: 4, arbitrary: answerCases }, { weight: 1, arbitrary: fc.constant(healthy) });

type Framing = 'length' | 'too long' | 'too short' | 'chunked' | 'close';

/** What says where a body ends: the field in the head, and what stands before and after the body. */
function framingOf(framing: Framing, length: number): { field: string; before?: string; after?: string } {
  switch (framing) {
    case 'length':
      return { field: `content-length: ${length}\r\n` };
    case 'too long':
      return { field: `content-length: ${length + 3}\r\n` };
    case 'too short':
      return { field: `content-length: ${length - 1}\r\n` };
    case 'chunked':
      return { field: 'transfer-encoding: chunked\r\n', before: `${length.toString(16)}\r\n`, after: '\r\n0\r\n\r\n' };
    case 'close':
      return { field: '' };
  }
}

/** A response, framed as it should be or not quite. */
const plans: fc.Arbitrary<Plan> = answers.chain((answer) => {
  const { status, headers, body } = answer;
  const fields: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) fields.push(`${headers[at]}: ${headers[at + 1]}\r\n`);
  const framed = fc.constantFrom<Framing>('length', 'chunked', 'close', 'too long', 'too short').map((framing) => {
    const { field, before = '', after = '' } = framingOf(framing, body.length);
    const head = `HTTP/1.1 ${status} Said\r\n${fields.join('')}${field}\r\n${before}`;
    return Buffer.concat([Buffer.from(head, 'latin1'), body, Buffer.from(after)]);
  });
  return fc.record({
    answer: fc.constant(answer),
    bytes: mutated(framed, 4),
    cut: fc.nat({ max: 400 }),
    end: fc.constantFrom('stays open', 'closes', 'closes', 'resets'),
  });
});

/** Serves each plan at the path that is its position. */
class FaultyServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(all: readonly Plan[]) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      let request = '';
      socket.on('data', (chunk) => {
        request += chunk.toString('latin1');
        // The whole of it: the body is one object, and nothing is sent behind it.
        const [, position, id] = /^POST \/(\d+) .*"id":"([0-9a-f]{32})".*\}$/s.exec(request) ?? [];
        if (position === undefined || id === undefined) return;
        request = '';
        play(socket, all[Number(position)]!, id);
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function play(socket: Socket, { bytes, cut, end }: Plan, id: string): void {
  const whole = Buffer.from(bytes.toString('latin1').replaceAll(ID, id), 'latin1');
  socket.write(whole.subarray(0, cut));
  setImmediate(() => {
    if (socket.destroyed) return;
    socket.write(whole.subarray(cut));
    if (end === 'closes') socket.end();
    if (end === 'resets') socket.resetAndDestroy();
  });
}

/** A call that has no other end has this one. */
const TIMEOUT_MS = 100;

async function call(dispatcher: Agent, endpoint: string, { operation, policy }: AnswerCase): Promise<'value' | 'failure'> {
  const { failure } = await verdictOf(operation, { ...policy, endpoint, timeoutMs: TIMEOUT_MS }, dispatcher);
  assert.notEqual(failure?.kind, 'invalid_argument');
  return failure === undefined ? 'value' : 'failure';
}

export function socketsSettle(): Property {
  return property({
    name: 'Any bytes on a socket, and any end of it, end each call in a value or a failure',
    batch: 12,
    outcomes: ['value', 'failure'],
    cases: fc.array(plans, { minLength: 1, maxLength: 12 }),
    check: async (all) => {
      await using server = new FaultyServer(all);
      const origin = await server.listen();
      const agent = new Agent({ connections: 4 });
      try {
        return await Promise.all(all.map(({ answer }, position) => call(agent, `${origin}/${position}`, answer)));
      } finally {
        await agent.destroy();
      }
    },
  });
}
