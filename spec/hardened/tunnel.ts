/** A loopback proxy that opens tunnels and forwards nothing, over TLS where it is told to. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TestContext } from 'node:test';
import type { PeerCertificate, TLSSocket, TlsOptions } from 'node:tls';

interface Tunnelling {
  readonly tls?: TlsOptions;
  /** Asked for a tunnel it answers with this, or never for the empty text. */
  readonly refusal?: string;
}

export class Tunnel {
  /** What it was asked for, and with which credentials. */
  readonly asked: string[] = [];
  /** The names of the clients' certificates. */
  readonly clients: unknown[] = [];
  readonly sockets = new Set<Duplex>();
  readonly #server: Server;
  readonly #scheme: string;

  private constructor({ tls, refusal }: Tunnelling) {
    this.#scheme = tls === undefined ? 'http' : 'https';
    this.#server = tls === undefined ? createServer() : createTlsServer(tls);
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      this.clients.push(nameOf(socket.getPeerCertificate()));
    });
    this.#server.on('connection', (socket: Socket) => {
      this.#watch(socket);
    });
    this.#server.on('request', ({ method, url }, response) => {
      this.asked.push(`${method} ${url}`);
      response.writeHead(405).end();
    });
    this.#server.on('connect', ({ url = '', headers }: IncomingMessage, client: Duplex) => {
      this.asked.push(`CONNECT ${url} ${headers['proxy-authorization'] ?? ''}`.trim());
      this.#watch(client);
      if (refusal !== undefined) {
        if (refusal !== '') client.end(refusal);
        return;
      }
      const { hostname, port } = new URL(`http://${url}`);
      const onward = connect(Number(port), hostname, () => client.write('HTTP/1.1 200 Connected\r\n\r\n'));
      this.#watch(onward);
      client.pipe(onward).pipe(client);
      client.on('close', () => onward.destroy());
      onward.on('close', () => client.destroy());
    });
  }

  static async listen(t: TestContext, tunnelling: Tunnelling = {}): Promise<Tunnel> {
    const tunnel = new Tunnel(tunnelling);
    t.after(async () => {
      for (const socket of tunnel.sockets) socket.destroy();
      tunnel.#server.close();
      await once(tunnel.#server, 'close');
    });
    tunnel.#server.listen(0, '127.0.0.1');
    await once(tunnel.#server, 'listening');
    return tunnel;
  }

  url(credentials = ''): string {
    return `${this.#scheme}://${credentials}127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #watch(socket: Duplex): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => undefined);
  }
}

/** Node gives an empty object where there is no certificate. */
function nameOf({ subject }: Partial<PeerCertificate>): unknown {
  return subject?.CN;
}
