/** The connections that are made while the check goes on, as undici reports them. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

export interface Connection {
  /** Host and port, as in a URL. */
  readonly host: string;
  readonly tls: TlsFacts | undefined;
  /** Who has closed it. */
  closedBy: 'agent' | 'caller' | undefined;
}

export interface TlsFacts {
  readonly version: string;
  readonly cipher: string;
  /** Until when the agent's certificate is valid, in its own words. */
  readonly validTo: string;
}

const CONNECTED = 'undici:client:connected';

export class Connections {
  readonly #seen: Connection[] = [];
  /** What is looked at: the process may have other connections. */
  readonly #hosts = new Set<string>();
  readonly #onConnected = (message: unknown): void => {
    const { socket, connectParams } = message as { readonly socket: Socket; readonly connectParams: { readonly host: string } };
    if (this.#hosts.has(connectParams.host)) this.#add(connectParams.host, socket);
  };

  constructor() {
    subscribe(CONNECTED, this.#onConnected);
  }

  /** Looks at those to where a URL is, from now on. */
  watch(url: string): void {
    const host = URL.parse(url)?.host;
    if (host !== undefined) this.#hosts.add(host);
  }

  /** Those to where a URL is, in the order in which they were made. */
  to(url: string): readonly Connection[] {
    const { host } = new URL(url);
    return this.#seen.filter((connection) => connection.host === host);
  }

  close(): void {
    unsubscribe(CONNECTED, this.#onConnected);
  }

  #add(host: string, socket: Socket): void {
    const connection: Connection = { host, tls: socket instanceof TLSSocket ? factsOf(socket) : undefined, closedBy: undefined };
    this.#seen.push(connection);
    socket.once('end', () => {
      connection.closedBy ??= 'agent';
    });
    socket.once('error', (error: Error & { readonly code?: string }) => {
      // What undici destroys a connection with is an error of its own.
      if (error.code?.startsWith('E') === true) connection.closedBy ??= 'agent';
    });
    socket.once('close', () => {
      connection.closedBy ??= 'caller';
    });
  }
}

function factsOf(socket: TLSSocket): TlsFacts {
  return { version: socket.getProtocol() ?? 'unknown', cipher: socket.getCipher().name, validTo: socket.getPeerCertificate().valid_to };
}
