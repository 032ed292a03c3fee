/**
 * A raw `node:net` agent on the loopback: it sees every byte that a client sends, counts requests whole or not, and answers with
 * the bytes of the test.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** One request as it came over the wire. */
export interface SeenRequest {
  /** The request line. */
  readonly line: string;
  /** Header values by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** The JSON-RPC id. */
  readonly id: string;
  /** How many requests this connection had carried before. */
  readonly before: number;
}

export type Answer = (socket: Socket, request: SeenRequest) => void;

interface Listening {
  /** Called with every connection, before anything of it is read. */
  readonly accepted?: (socket: Socket) => void;
  /** Over TLS, with this. */
  readonly tls?: TlsOptions;
}

export class RawServer {
  /** Whole requests, in the order they came. */
  readonly requests: SeenRequest[] = [];
  /** Connections that are open. */
  readonly sockets = new Set<Socket>();
  /** Connections that were ever made. */
  connections = 0;
  /** Every byte that ever came. */
  bytes = 0;
  readonly #server: Server;

  readonly #scheme: string;

  private constructor(answer: Answer, { accepted, tls }: Listening) {
    const connected = (socket: Socket): void => {
      this.connections++;
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      // The client may reset: that is its business.
      socket.on('error', () => undefined);
      this.#read(socket, answer);
      accepted?.(socket);
    };
    this.#scheme = tls === undefined ? 'http' : 'https';
    this.#server = tls === undefined ? createServer({ noDelay: true }, connected) : createTlsServer(tls, connected).on('tlsClientError', () => undefined);
  }

  static async listen(answer: Answer, listening: Listening = {}): Promise<RawServer> {
    const server = new RawServer(answer, listening);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #read(socket: Socket, answer: Answer): void {
    let buffered = Buffer.alloc(0);
    let before = 0;
    socket.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      buffered = Buffer.concat([buffered, chunk]);
      for (;;) {
        const headEnd = buffered.indexOf('\r\n\r\n');
        if (headEnd < 0) return;
        const [line = '', ...fields] = buffered.toString('latin1', 0, headEnd).split('\r\n');
        const headers = new Map(
          fields.map((field): [string, string] => {
            const colon = field.indexOf(':');
            return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
          }),
        );
        const end = headEnd + 4 + Number(headers.get('content-length') ?? 0);
        if (buffered.length < end) return;
        const body = buffered.toString('utf8', headEnd + 4, end);
        buffered = buffered.subarray(end);
        const request = { line, headers, body, id: idOf(body), before };
        before++;
        this.requests.push(request);
        answer(socket, request);
      }
    });
  }
}

function idOf(body: string): string {
  try {
    return (JSON.parse(body) as { id: string }).id;
  } catch {
    return '';
  }
}

// ---- What agents answer ----

/** The bytes of a response. `content-length` is added where `fields` name no framing of their own. */
export function response(status: number, fields: readonly string[], body: string | Buffer = ''): Buffer {
  const bytes = Buffer.from(body);
  const isFramed = fields.some((field) => /^(?:content-length|transfer-encoding|connection: close)/i.test(field));
  const head = [`HTTP/1.1 ${status} Whatever`, ...fields, ...(isFramed ? [] : [`content-length: ${bytes.length}`])];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}

export const JSON_FIELD = 'content-type: application/json';
export const SSE_FIELD = 'content-type: text/event-stream';

/** The JSON text of a result. */
export function resultText(id: string, result: unknown = { fine: true }): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

/** The JSON text of an error. */
export function errorText(id: string, code = -32001, message = 'There is no such task'): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
}

/** A whole good answer to a unary call. */
export function good(id: string, result?: unknown): Buffer {
  return response(200, [JSON_FIELD], resultText(id, result));
}

/** One server-sent event. */
export function event(id: string, eventId: number, result: unknown): string {
  return `id: ${eventId}\ndata: ${resultText(id, result)}\n\n`;
}

const TASK = 'task-1';
/** Results of a 1.0 stream that begins, goes on, and ends. */
export const WORKING = { task: { id: TASK, contextId: 'ctx-1', status: { state: 'TASK_STATE_WORKING' } } };
export const PROGRESS = { statusUpdate: { taskId: TASK, contextId: 'ctx-1', status: { state: 'TASK_STATE_WORKING' } } };
export const COMPLETED = { statusUpdate: { taskId: TASK, contextId: 'ctx-1', status: { state: 'TASK_STATE_COMPLETED' } } };
/** The same in 0.3. */
export const WORKING_0_3 = { kind: 'task', id: TASK, contextId: 'ctx-1', status: { state: 'working' } };
export const COMPLETED_0_3 = { kind: 'status-update', taskId: TASK, contextId: 'ctx-1', final: true, status: { state: 'completed' } };

/** The body of a whole good stream of two events. */
export function streamBody(id: string): string {
  return event(id, 1, WORKING) + event(id, 2, COMPLETED);
}

/** A whole good stream. */
export function goodStream(id: string): Buffer {
  return response(200, [SSE_FIELD], streamBody(id));
}

/** One chunk of chunked framing. */
export function chunk(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const LAST_CHUNK = '0\r\n\r\n';
