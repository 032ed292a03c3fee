/** An agent on a raw socket, which says exactly what a test tells it to, in the pieces the test wants. */
import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import net from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { StrictClient, userText, type EventStream, type ProtocolVersion, type StreamOptions } from '../../lib/index.js';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

/** Looks again and again, until something holds. @throws where it does not hold after five seconds */
export async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 5000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`never: ${holds.toString()}`);
    await sleep(1);
  }
}

/** The client's sockets, by the port they have. */
const clients = new Map<number | undefined, net.Socket>();
diagnostics.subscribe('undici:client:connected', (event) => {
  const { socket } = event as { socket: net.Socket };
  const port = socket.localPort;
  clients.set(port, socket);
  socket.once('close', () => {
    // The system may have given the port to another by now.
    if (clients.get(port) === socket) clients.delete(port);
  });
});

/** One request, and the socket to answer it on. */
export class PeerCall {
  /** The JSON-RPC id. */
  readonly id: string;
  /** Which connection it came on, counted from 1. */
  readonly connection: number;
  readonly socket: net.Socket;
  /** The other end of it. */
  readonly client: net.Socket;
  #events = 0;
  #rest = '';

  constructor(id: string, connection: number, socket: net.Socket) {
    this.id = id;
    this.connection = connection;
    this.socket = socket;
    const client = clients.get(socket.remotePort);
    if (client === undefined) throw new Error('not a connection of this process');
    this.client = client;
  }

  /** Resolves once the client has read all that was written. */
  async arrived(): Promise<void> {
    await until(() => this.client.bytesRead >= this.socket.bytesWritten);
    // What it has read it also looks at.
    await turn();
    await turn();
  }

  /** Resolves to whether the connection closed within so many milliseconds. */
  gone(within: number): Promise<boolean> {
    if (this.socket.destroyed) return Promise.resolve(true);
    return new Promise((resolve) => {
      const onClose = (): void => {
        clearTimeout(late);
        resolve(true);
      };
      const late = setTimeout(() => {
        this.socket.off('close', onClose);
        resolve(false);
      }, within);
      this.socket.once('close', onClose);
    });
  }

  head(text = HEAD): this {
    this.socket.write(text);
    return this;
  }

  /** One HTTP chunk. */
  chunk(text: string): this {
    const bytes = Buffer.from(text);
    this.socket.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]));
    return this;
  }

  frame(members: object, fields = ''): string {
    this.#events++;
    return `id: ${this.#events}\n${fields}data: ${JSON.stringify({ jsonrpc: '2.0', id: this.id, ...members })}\n\n`;
  }

  event(result: object): this {
    return this.chunk(this.frame({ result }));
  }

  /** The first half of an event; `rest` sends the other. */
  half(result: object): this {
    const text = this.frame({ result });
    const middle = text.length >> 1;
    this.#rest = text.slice(middle);
    return this.chunk(text.slice(0, middle));
  }

  rest(): this {
    if (this.#rest !== '') this.chunk(this.#rest);
    this.#rest = '';
    return this;
  }

  /** Ends the response as its framing says. */
  end(): this {
    this.socket.write('0\r\n\r\n');
    return this;
  }

  /** Closes the connection without ending the response. */
  cut(): void {
    this.socket.end();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** A whole answer of `application/json`. */
  json(members: object): this {
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.id, ...members });
    this.socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    return this;
  }
}

/** What a test that failed may have left behind. */
const alive = new Set<Peer>();

/** Closes every peer that is still there, so that a test which waits in vain does not keep the process. */
export async function closePeers(): Promise<void> {
  await Promise.all(Array.from(alive, (peer) => peer[Symbol.asyncDispose]()));
}

/** The agent, and a client with a dispatcher of its own that talks to it. */
export class Peer implements AsyncDisposable {
  readonly endpoint: string;
  readonly dispatcher: Agent;
  readonly client: StrictClient;
  readonly #server: net.Server;
  readonly #sockets: Set<net.Socket>;
  readonly #calls: PeerCall[];
  readonly #waiting: ((call: PeerCall) => void)[];
  readonly #count: { connections: number };

  private constructor(
    server: net.Server,
    sockets: Set<net.Socket>,
    calls: PeerCall[],
    waiting: ((call: PeerCall) => void)[],
    count: { connections: number },
  ) {
    const { port } = server.address() as net.AddressInfo;
    this.endpoint = `http://127.0.0.1:${port}/`;
    this.#server = server;
    this.#sockets = sockets;
    this.#calls = calls;
    this.#waiting = waiting;
    this.#count = count;
    this.dispatcher = new Agent();
    this.client = new StrictClient(this.dispatcher);
    alive.add(this);
  }

  /** @param answer called with each request; without it, `call()` waits for them */
  static async listen(answer?: (call: PeerCall) => void): Promise<Peer> {
    const sockets = new Set<net.Socket>();
    const calls: PeerCall[] = [];
    const waiting: ((call: PeerCall) => void)[] = [];
    const count = { connections: 0 };
    const server = net.createServer((socket) => {
      sockets.add(socket);
      const connection = ++count.connections;
      socket.setNoDelay(true);
      // A reset by the client is an end like any other.
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
      let received = Buffer.alloc(0);
      socket.on('data', (bytes) => {
        received = Buffer.concat([received, bytes]);
        for (;;) {
          const headEnd = received.indexOf('\r\n\r\n');
          if (headEnd < 0) return;
          const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received.toString('latin1', 0, headEnd))?.[1]);
          const end = headEnd + 4 + length;
          if (received.length < end) return;
          const { id } = JSON.parse(received.toString('utf8', headEnd + 4, end)) as { id: string };
          received = received.subarray(end);
          const call = new PeerCall(id, connection, socket);
          if (answer !== undefined) answer(call);
          else if (waiting.length > 0) waiting.shift()?.(call);
          else calls.push(call);
        }
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Peer(server, sockets, calls, waiting, count);
  }

  /** How many connections were made so far. */
  get connections(): number {
    return this.#count.connections;
  }

  /** The next request. */
  call(): Promise<PeerCall> {
    const call = this.#calls.shift();
    return call !== undefined ? Promise.resolve(call) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  options(dialect: ProtocolVersion, more: Partial<StreamOptions> = {}): StreamOptions {
    return { endpoint: this.endpoint, protocolVersion: dialect, maxResponseBytes: 1 << 20, maxEventBytes: 1 << 20, ...more };
  }

  /** A stream that is yet to be sent. */
  stream(dialect: ProtocolVersion, more: Partial<StreamOptions> = {}): EventStream {
    return this.client.sendStreamingMessage(this.options(dialect, more), { message: userText('hi') });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!alive.delete(this)) return;
    await this.dispatcher.destroy();
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** A dispatcher that shows each chunk of a body, inside undici's callback, before it hands it on. */
export function watchData(dispatcher: Agent, seen: (chunk: Buffer) => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    const watching: Dispatcher.DispatchHandler = {
      onRequestStart: (...given) => handler.onRequestStart?.(...given),
      onRequestSent: () => handler.onRequestSent?.(),
      onResponseStart: (...given) => handler.onResponseStart?.(...given),
      onResponseData: (controller, chunk) => {
        seen(chunk);
        return handler.onResponseData?.(controller, chunk);
      },
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => handler.onResponseError?.(...given),
    };
    return dispatch(options, watching);
  });
}
