/**
 * The agent that the corpus is replayed with: a raw TCP server, so that nothing puts the bytes of a response in order.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { bytesOfStep, lengthOf, stepsOf, type Names, type Splitting } from './bytes.js';
import type { Run } from './corpus.js';

/** A request as it came. */
export interface SeenRequest {
  readonly line: string;
  /** By lower-case name; repeated fields joined. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Play {
  readonly endpoint: string;
  /** Every request that came for this play, in order. */
  readonly requests: readonly SeenRequest[];
}

interface Running {
  readonly run: Run;
  readonly splitting: Splitting;
  readonly requests: SeenRequest[];
}

export class RawAgent implements AsyncDisposable {
  readonly #server: Server;
  readonly #plays: Running[] = [];
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      // A client that refuses an answer leaves while it is being written.
      socket.on('error', () => socket.destroy());
      void this.#serve(socket);
    });
  }

  static async listen(): Promise<RawAgent> {
    const agent = new RawAgent();
    await new Promise<void>((resolve) => agent.#server.listen(0, '127.0.0.1', resolve));
    return agent;
  }

  /** Prepares the answer to one call. The path of its endpoint says which it is. */
  prepare(run: Run, splitting: Splitting): Play {
    const requests: SeenRequest[] = [];
    const position = this.#plays.push({ run, splitting, requests }) - 1;
    const { port } = this.#server.address() as AddressInfo;
    return { endpoint: `http://127.0.0.1:${port}/${position}`, requests };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(socket: Socket): Promise<void> {
    try {
      for await (const request of requestsOf(socket)) {
        const play = this.#plays[Number(request.line.split(' ')[1]?.slice(1))];
        if (play === undefined) throw new RangeError('A request for no case');
        play.requests.push(request);
        await answer(socket, play, { id: String(request.body['id']) });
      }
    } catch {
      // The connection broke, which the client's verdict speaks of.
    }
    socket.destroy();
  }
}

/** Reads one request after the other: a head, and a body of its content-length. */
async function* requestsOf(socket: Socket): AsyncGenerator<SeenRequest> {
  let buffer = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    buffer = Buffer.concat([buffer, chunk]);
    const headEnd = buffer.indexOf('\r\n\r\n');
    if (headEnd < 0) continue;
    const [line = '', ...fields] = buffer.toString('latin1', 0, headEnd).split('\r\n');
    const headers = headerMap(fields);
    const bodyEnd = headEnd + 4 + Number(headers.get('content-length'));
    if (buffer.length < bodyEnd) continue;
    const body = JSON.parse(buffer.toString('utf8', headEnd + 4, bodyEnd)) as Record<string, unknown>;
    buffer = buffer.subarray(bodyEnd);
    yield { line, headers, body };
  }
}

function headerMap(fields: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const field of fields) {
    const colon = field.indexOf(':');
    const name = field.slice(0, colon).toLowerCase();
    const value = field.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

async function answer(socket: Socket, { run, splitting }: Running, { id }: Names): Promise<void> {
  const steps = stepsOf(run, { id }, splitting);
  const names = { id, length: lengthOf(steps, { id }) };
  let unsent: Buffer[] = [];
  const flush = (): void => {
    if (unsent.length > 0) socket.write(Buffer.concat(unsent));
    unsent = [];
  };
  for (const step of steps) {
    const bytes = bytesOfStep(step, names);
    if (bytes !== undefined) {
      // What no delay stands between goes out as one: how TCP cuts it is not for a case to say.
      unsent.push(bytes);
      continue;
    }
    flush();
    if ('delay' in step) await delay(step.delay);
    if ('end' in step) socket.end();
    if ('reset' in step) socket.resetAndDestroy();
  }
  flush();
}
