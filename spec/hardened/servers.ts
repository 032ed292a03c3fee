/** Agents on the loopback that answer every call, and tell what they saw of their connections. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { TLSSocket, TlsOptions } from 'node:tls';

interface Listening {
  /** Absent: 127.0.0.1. */
  readonly host?: string;
  readonly port?: number;
  readonly tls?: TlsOptions;
  /** Called with every connection whose TLS is set up. */
  readonly secured?: (socket: TLSSocket) => void;
  /** Absent: a good answer, at once. */
  readonly answer?: (response: ServerResponse, id: string) => void;
}

export class Peer {
  /** Connections that were ever made, whatever came of them. */
  connections = 0;
  /** Connections that are open. */
  readonly sockets = new Set<Socket>();
  /** The most that were open at once. */
  most = 0;
  /** Requests whose head came. */
  requests = 0;
  readonly #server: Server;
  readonly #scheme: string;

  private constructor({ tls, secured, answer = answerWell }: Listening) {
    const listener: RequestListener = (request, response) => {
      this.requests++;
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (text: string) => (body += text));
      request.on('end', () => {
        answer(response, /"id":"([^"]*)"/.exec(body)?.[1] ?? '');
      });
    };
    this.#scheme = tls === undefined ? 'http' : 'https';
    this.#server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
    this.#server.on('connection', (socket: Socket) => {
      this.connections++;
      this.sockets.add(socket);
      this.most = Math.max(this.most, this.sockets.size);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => undefined);
    });
    if (secured !== undefined) this.#server.on('secureConnection', secured);
    this.#server.on('tlsClientError', () => undefined);
  }

  static async listen(t: TestContext, listening: Listening = {}): Promise<Peer> {
    const peer = new Peer(listening);
    t.after(() => peer.#close());
    peer.#server.listen(listening.port ?? 0, listening.host ?? '127.0.0.1');
    await once(peer.#server, 'listening');
    return peer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Where it listens, or the same port of another host. */
  origin(host = '127.0.0.1'): string {
    return `${this.#scheme}://${host}:${this.port}`;
  }

  async #close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export function answerWell(response: ServerResponse, id: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
}

/** A file of fixtures/certificates/hardened. */
export function certificate(name: string): string {
  return readFileSync(new URL(`../../fixtures/certificates/hardened/${name}`, import.meta.url), 'utf8');
}

/** The pin of a certificate there, as OpenSSL computed it. */
export function pinOf(name: string): string {
  const pin = new Map(certificate('pins.txt').trim().split('\n').map((line) => line.split(' ') as [string, string])).get(name);
  if (pin === undefined) throw new Error(`no pin of ${name}`);
  return pin;
}

/** A second address of this machine: not every one has IPv6. */
export async function otherLoopback(t: TestContext, port: number): Promise<{ readonly address: string; readonly peer: Peer }> {
  for (const host of ['::1', '127.0.0.2']) {
    try {
      return { address: host, peer: await Peer.listen(t, { host, port }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRNOTAVAIL') throw error;
    }
  }
  throw new Error('this machine has one loopback address only');
}
