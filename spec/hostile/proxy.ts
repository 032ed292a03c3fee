/** A small loopback proxy: CONNECT tunnels, and absolute-form requests handed on. It passes bytes and ends on, and adds nothing. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class LoopbackProxy {
  /** First lines of what it was asked for. */
  readonly asked: string[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  /** @param refusal answered instead of what was asked for */
  private constructor(refusal: string | undefined) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#watch(socket);
      let head = Buffer.alloc(0);
      const read = (chunk: Buffer): void => {
        head = Buffer.concat([head, chunk]);
        const lineEnd = head.indexOf('\r\n');
        const headEnd = head.indexOf('\r\n\r\n');
        if (headEnd < 0) return;
        socket.off('data', read);
        const line = head.toString('latin1', 0, lineEnd);
        this.asked.push(line);
        if (refusal !== undefined) {
          socket.end(refusal);
          return;
        }
        const [method = '', target = '', version = ''] = line.split(' ');
        if (method === 'CONNECT') {
          const onward = this.#onward(new URL(`http://${target}`), socket);
          onward.once('connect', () => socket.write('HTTP/1.1 200 Connected\r\n\r\n'));
          onward.write(head.subarray(headEnd + 4));
        } else {
          const url = new URL(target);
          const onward = this.#onward(url, socket);
          onward.write(`${method} ${url.pathname}${url.search} ${version}`);
          onward.write(head.subarray(lineEnd));
        }
      };
      socket.on('data', read);
    });
  }

  static async listen(refusal?: string): Promise<LoopbackProxy> {
    const proxy = new LoopbackProxy(refusal);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #onward({ hostname, port }: URL, client: Socket): Socket {
    const onward = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#watch(onward);
    client.pipe(onward);
    onward.pipe(client);
    // A connection that is lost on one side is lost on the other.
    onward.on('error', () => {
      client.resetAndDestroy();
    });
    onward.on('close', () => {
      client.destroySoon();
    });
    client.on('close', () => onward.destroy());
    return onward;
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
  }
}
