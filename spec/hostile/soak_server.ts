/**
 * The agent of the soak, in a process of its own. The path of a request is the fault it is to play and the seed of its choices. Sends
 * its port, and its report where it is sent anything.
 */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../stream/random.js';
import {
  COMPLETED,
  JSON_FIELD,
  LAST_CHUNK,
  PROGRESS,
  RawServer,
  SSE_FIELD,
  WORKING,
  chunk,
  errorText,
  event,
  response,
} from './raw_server.js';
import { MAX_EVENT_BYTES, type SoakFault, type SoakServerReport } from './soak_faults.js';

/** A pause of the agent's, in ms. */
const PAUSE_MS = 120;

class Play {
  readonly #socket: Socket;
  readonly #id: string;
  readonly #random: Random;
  #events = 0;

  constructor(socket: Socket, id: string, random: Random) {
    this.#socket = socket;
    this.#id = id;
    this.#random = random;
  }

  pause(): Promise<void> {
    return sleep(this.#random.below(PAUSE_MS));
  }

  say(bytes: string | Buffer): void {
    if (!this.#socket.destroyed) this.#socket.write(bytes);
  }

  head(): void {
    this.say(response(200, [SSE_FIELD, 'transfer-encoding: chunked']));
  }

  /** Text of the stream, in HTTP chunks of any size. */
  text(text: string): void {
    for (let at = 0; at < text.length; ) {
      const size = 1 + this.#random.below(this.#random.below(4) === 0 ? 40 : 4096);
      this.say(chunk(text.slice(at, at + size)));
      at += size;
    }
  }

  next(result: unknown): string {
    return event(this.#id, ++this.#events, result);
  }

  async begin(): Promise<void> {
    await this.pause();
    this.head();
    this.text(this.next(WORKING));
    for (let i = this.#random.below(4); i > 0; i--) {
      await this.pause();
      this.text(this.next(PROGRESS));
    }
    await this.pause();
  }

  complete(): void {
    this.text(this.next(COMPLETED));
  }

  last(): void {
    this.say(LAST_CHUNK);
  }

  /** Random bytes without a line's end. */
  noise(): Buffer {
    const bytes = Array.from({ length: 8 + this.#random.below(200) }, () => this.#random.below(256));
    return Buffer.from(bytes.filter((byte) => byte !== 0x0a && byte !== 0x0d));
  }

  async play(fault: SoakFault): Promise<void> {
    const socket = this.#socket;
    switch (fault) {
      case 'none':
      case 'canceled at some time':
      case 'a signal that times out':
      case 'left at some event':
      case 'left while it waits':
        await this.begin();
        this.complete();
        await this.pause();
        this.last();
        return;
      case 'a slow consumer': {
        await this.begin();
        const padding = `:${'x'.repeat(8000)}\n`;
        for (let i = 0; i < 20; i++) this.text(padding + this.next(PROGRESS));
        this.complete();
        this.last();
        return;
      }
      case 'the response stays open behind the end event':
        await this.begin();
        this.complete();
        return;
      case 'reset before the head':
        await this.pause();
        socket.resetAndDestroy();
        return;
      case 'reset inside the stream':
        await this.begin();
        if (this.#random.below(2) === 0) this.text(this.next(PROGRESS).slice(0, 30));
        socket.resetAndDestroy();
        return;
      case 'closed before the head':
        await this.pause();
        socket.end();
        return;
      case 'closed inside the stream':
        await this.begin();
        if (this.#random.below(2) === 0) this.text(this.next(PROGRESS).slice(0, 30));
        socket.end();
        return;
      case 'ended before the task':
        await this.begin();
        this.last();
        return;
      case 'ended inside an event':
        await this.begin();
        this.text(this.next(PROGRESS).slice(0, 10 + this.#random.below(60)));
        this.last();
        return;
      case 'stalled before the head':
        return;
      case 'stalled inside the stream':
        await this.begin();
        if (this.#random.below(2) === 0) this.text(this.next(PROGRESS).slice(0, 30));
        return;
      case 'not HTTP':
        await this.pause();
        this.say(Buffer.concat([Buffer.from([this.#random.below(32)]), this.noise()]));
        return;
      case 'a chunk size that is none':
        await this.begin();
        this.say('zz\r\n');
        return;
      case 'a head without end':
        await this.pause();
        this.say('HTTP/1.1 200 OK\r\n');
        for (let i = 0; i < 30; i++) this.say(`x-a: ${'x'.repeat(1000)}\r\n`);
        return;
      case 'random bytes for data':
        await this.begin();
        // It begins like nothing in JSON.
        this.say(chunk(Buffer.concat([Buffer.from('id: x\ndata: x'), this.noise(), Buffer.from('\n\n')])));
        return;
      case 'random bytes for a line': {
        await this.begin();
        const end = this.#random.pick(['\n', '\rx', ':\n']);
        this.say(chunk(Buffer.concat([Buffer.from('x'), this.noise(), Buffer.from(end)])));
        return;
      }
      case 'an event over the bound':
        await this.begin();
        this.text(`data: ${'x'.repeat(MAX_EVENT_BYTES)}`);
        return;
      case 'an id twice': {
        await this.begin();
        const twice = this.next(PROGRESS);
        this.text(twice);
        await this.pause();
        this.text(twice);
        return;
      }
      case 'an event behind the end':
        await this.begin();
        this.complete();
        this.text(this.next(WORKING));
        return;
      case 'an error status':
        await this.pause();
        this.say(response(this.#random.pick([400, 403, 404, 429, 500, 503]), [], 'nothing of use'));
        return;
      case "the agent's error":
        await this.pause();
        this.say(response(200, [JSON_FIELD], errorText(this.#id)));
        return;
    }
  }
}

const server = await RawServer.listen((socket, { line, id }) => {
  const [, fault = '', seed] = (line.split(' ')[1] ?? '').split('/');
  void new Play(socket, id, new Random(Number(seed))).play(decodeURIComponent(fault) as SoakFault);
});
process.on('message', () => {
  const report: SoakServerReport = {
    sockets: server.sockets.size,
    requests: server.requests.length,
    repeated: server.requests.length - new Set(server.requests.map(({ id }) => id)).size,
  };
  process.send?.(report);
});
// The soak has ended, however it did.
process.once('disconnect', () => process.exit());
process.send?.(server.port);
