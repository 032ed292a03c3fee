/** An HTTP/2 agent on the loopback, over TLS: it counts the requests that begin and those that are whole. */
import { once } from 'node:events';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { CERTIFICATE } from './certificate.js';

export interface H2Request {
  readonly path: string;
  readonly body: string;
  /** The JSON-RPC id. */
  readonly id: string;
}

export type H2Answer = (stream: ServerHttp2Stream, request: H2Request) => void;

export class H2Server {
  /** Whole requests, in the order they came. */
  readonly requests: H2Request[] = [];
  readonly sessions = new Set<ServerHttp2Session>();
  /** Requests that began. */
  begun = 0;
  /** Connections that were ever made. */
  connections = 0;
  readonly #server: Http2SecureServer;

  private constructor(answer: H2Answer) {
    this.#server = createSecureServer(CERTIFICATE);
    this.#server.on('session', (session) => {
      this.connections++;
      this.sessions.add(session);
      session.on('close', () => this.sessions.delete(session));
      session.on('error', () => undefined);
    });
    this.#server.on('stream', (stream, headers) => {
      this.begun++;
      stream.on('error', () => undefined);
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        if (body === '') return;
        const request = { path: headers[':path'] ?? '', body, id: (JSON.parse(body) as { id: string }).id };
        this.requests.push(request);
        answer(stream, request);
      });
    });
  }

  static async listen(answer: H2Answer): Promise<H2Server> {
    const server = new H2Server(answer);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `https://localhost:${this.port}`;
  }

  async close(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
