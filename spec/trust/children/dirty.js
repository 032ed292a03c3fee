// Does all that an import must not do, so that the test knows that it would see it.
import http from 'node:http';
import { createServer } from 'node:net';

globalThis.added = process.env.HOME;
Array.prototype.last = function () {
  return this[this.length - 1];
};
http.request = http.request.bind(http);
Object.defineProperty(Object.getPrototypeOf(Uint8Array), 'length', { enumerable: true });
process.on('warning', () => undefined);
const server = createServer().listen(0, '127.0.0.1');
setTimeout(() => server.close(), 100);
