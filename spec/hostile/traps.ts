/**
 * What undici does that surprises, in a process of its own: `node --import tsx traps.ts <scenarios>` prints what came of each, and ends
 * by itself, because nothing is left that would keep it. See undici_traps.test.ts.
 */
import { channel } from 'node:diagnostics_channel';
import { pathToFileURL } from 'node:url';
import { Agent } from 'undici';
import type { CallInterceptor, EventStream } from '../../lib/index.js';
import { call, callOutcome, drain, lineOf, openStream, outcome, pass, streamOutcome, until } from './calls.js';
import {
  COMPLETED,
  JSON_FIELD,
  LAST_CHUNK,
  PROGRESS,
  RawServer,
  SSE_FIELD,
  WORKING,
  chunk,
  event,
  good,
  goodStream,
  response,
  resultText,
  streamBody,
  type Answer,
} from './raw_server.js';

type Scenario = () => Promise<unknown>;

interface Framing {
  readonly fields: readonly string[];
  readonly frame: (text: string) => Buffer;
  readonly end: string;
}

const FRAMINGS: Readonly<Record<string, Framing>> = {
  chunked: { fields: ['connection: close', 'transfer-encoding: chunked'], frame: chunk, end: LAST_CHUNK },
  delimited: { fields: ['connection: close'], frame: (text) => Buffer.from(text), end: '' },
  lengthy: { fields: ['connection: close', 'content-length: 100000000'], frame: (text) => Buffer.from(text), end: '' },
};

/** More than a socket chunk of events, so that a consumer who reads one has the agent held back. */
function flood(id: string, events: number, padding = 3000): string {
  let text = event(id, 0, WORKING);
  for (let i = 1; i < events; i++) text += `:${'x'.repeat(padding)}\n${event(id, i, PROGRESS)}`;
  return text;
}

async function withServer<T>(answer: Answer, run: (server: RawServer, agent: Agent) => Promise<T>): Promise<T> {
  const server = await RawServer.listen(answer);
  const agent = new Agent();
  try {
    return await run(server, agent);
  } finally {
    await agent.close();
    await server.close();
  }
}

async function firstOf(stream: EventStream): Promise<string> {
  const { done } = await stream.next();
  return done === true ? 'done' : 'event';
}

/**
 * Paused on a response with `connection: close`, the peer resets or closes: 7.30.2 dies of it. Of a few events all is in memory, and the
 * reset is noticed while paused; of many it is noticed once they are read.
 */
async function pausedThen(end: 'reset' | 'close', framing: Framing): Promise<unknown> {
  const lines: string[] = [];
  for (const events of [55, 200]) {
    const line = await withServer(
      (socket, { id }) => {
        socket.write(Buffer.concat([response(200, [SSE_FIELD, ...framing.fields]), framing.frame(flood(id, events))]));
        setTimeout(() => {
          if (end === 'reset') socket.resetAndDestroy();
          else socket.end();
        }, 40);
      },
      async (server, agent) => {
        const stream = openStream(agent, server.origin);
        await stream.next();
        // Held back meanwhile.
        await pass(80);
        const [came = '', ...rule] = (await drain(stream)).split(' ');
        // How much the system lets through behind a reset is its business.
        return `${Number(came) > 0 ? 'events' : 'no event'}, ${rule.join(' ')}, ${await callAgain(agent)}`;
      },
    );
    lines.push(line);
  }
  return lines;
}

async function callAgain(agent: Agent): Promise<string> {
  const server = await RawServer.listen((socket, { id }) => socket.write(good(id)));
  const line = await callOutcome(agent, server.origin);
  await server.close();
  return line;
}

/** An agent with a stream on one connection that is held back, and whole answers on all others. */
const heldBackOrGood: Answer = (socket, { id, line }) => {
  if (line.includes('held')) {
    socket.write(Buffer.concat([response(200, [SSE_FIELD, 'transfer-encoding: chunked']), chunk(flood(id, 200)), chunk(event(id, 200, COMPLETED)), Buffer.from(LAST_CHUNK)]));
  } else {
    socket.write(line.includes('stream') ? goodStream(id) : good(id));
  }
};

/** Opens a stream and reads one event of it, so that the agent is held back; gives it with the outcome of the rest, once read. */
async function heldBack(agent: Agent, origin: string): Promise<EventStream> {
  const stream = openStream(agent, `${origin}/held`);
  await stream.next();
  await pass(20);
  return stream;
}

/** Head, body and end in one packet, of a connection that closes; refused in the head or in the body. */
async function refusedInOnePacket(framing: Framing, fields: readonly string[], body: (id: string) => string, run: typeof callOutcome): Promise<unknown> {
  const outcomes: string[] = [];
  for (const end of ['end', 'destroySoon', 'resetAndDestroy'] as const) {
    const line = await withServer(
      (socket, { id }) => {
        socket.write(Buffer.concat([response(200, [...fields, ...framing.fields]), framing.frame(body(id)), Buffer.from(framing.end)]), () => {
          if (end === 'resetAndDestroy') setTimeout(() => socket.resetAndDestroy(), 10);
          else socket[end]();
        });
      },
      async (server, agent) => [await run(agent, server.origin, { maxResponseBytes: 1000 }), await callAgain(agent)].join(', '),
    );
    outcomes.push(line);
  }
  return [...new Set(outcomes)];
}

const forEachFraming = async (run: (framing: Framing) => Promise<unknown>): Promise<Record<string, unknown>> => {
  const results: Record<string, unknown> = {};
  for (const [name, framing] of Object.entries(FRAMINGS)) results[name] = await run(framing);
  return results;
};

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'paused-then-reset': () => forEachFraming((framing) => pausedThen('reset', framing)),
  'paused-then-closed': () => forEachFraming((framing) => pausedThen('close', framing)),

  'paused-then-canceled-then-reset': () =>
    forEachFraming((framing) =>
      withServer(
        (socket, { id }) => {
          socket.write(Buffer.concat([response(200, [SSE_FIELD, ...framing.fields]), framing.frame(flood(id, 200))]));
          setTimeout(() => socket.resetAndDestroy(), 60);
        },
        async (server, agent) => {
          const canceling = new AbortController();
          const stream = openStream(agent, server.origin, { signal: canceling.signal });
          await stream.next();
          await pass(20);
          canceling.abort();
          const line = await stream.next().then(() => 'event', lineOf);
          await pass(80);
          return [line, await firstOf(stream), await callAgain(agent)];
        },
      ),
    ),

  // resume() of one dispatch inside a callback of another throws in undici, and hangs the first for ever.
  'resumed-from-an-interceptor': () =>
    withServer(heldBackOrGood, async (server, agent) => {
      const stream = await heldBack(agent, server.origin);
      const rest: Promise<string>[] = [];
      const resuming: CallInterceptor = {
        before: () => undefined,
        // Called from within the end of the other response.
        after: () => {
          rest.push(drain(stream));
        },
      };
      const line = await callOutcome(agent, server.origin, { interceptors: [resuming] });
      return [line, await rest[0]];
    }),

  'resumed-from-a-consumer': () =>
    withServer(heldBackOrGood, async (server, agent) => {
      const held = await heldBack(agent, server.origin);
      const rest: Promise<string>[] = [];
      for await (const _ of openStream(agent, `${server.origin}/stream`)) rest.push(drain(held));
      // Two readers of one stream share its events.
      const counts = (await Promise.all(rest)).map((line) => line.split(' '));
      return [counts.map(([, end]) => end), counts.reduce((sum, [events]) => sum + Number(events), 0)];
    }),

  'resumed-from-within-the-parser': () =>
    withServer(heldBackOrGood, async (server, agent) => {
      const held = await heldBack(agent, server.origin);
      const rest: Promise<string>[] = [];
      const names = ['undici:request:headers', 'undici:request:bodyChunkReceived', 'undici:request:trailers'];
      let isOurs = true;
      const resume = (): void => {
        if (isOurs) rest.push(held.next().then(({ done }) => String(done), lineOf));
      };
      for (const name of names) channel(name).subscribe(resume);
      const line = await callOutcome(agent, server.origin);
      isOurs = false;
      for (const name of names) channel(name).unsubscribe(resume);
      return [line, await Promise.all(rest), await drain(held)];
    }),

  // Ends one stream from within a callback of another, and a call from within its own.
  'ended-from-within-the-parser': () =>
    withServer(heldBackOrGood, async (server, agent) => {
      const held = await heldBack(agent, server.origin);
      const canceling = new AbortController();
      let stopped: Promise<unknown> | undefined;
      const end = (): void => {
        channel('undici:request:bodyChunkReceived').unsubscribe(end);
        stopped = held.return();
        canceling.abort();
      };
      channel('undici:request:bodyChunkReceived').subscribe(end);
      const line = await callOutcome(agent, server.origin, { signal: canceling.signal });
      await stopped;
      return [line, await firstOf(held), await callAgain(agent)];
    }),

  'canceled-in-the-head-from-within-the-parser': () =>
    forEachFraming((framing) =>
      withServer(
        (socket, { id }) => socket.end(Buffer.concat([response(200, [JSON_FIELD, ...framing.fields]), framing.frame(resultText(id)), Buffer.from(framing.end)])),
        async (server, agent) => {
          const canceling = new AbortController();
          const cancel = (): void => {
            channel('undici:request:headers').unsubscribe(cancel);
            canceling.abort();
          };
          channel('undici:request:headers').subscribe(cancel);
          const line = await callOutcome(agent, server.origin, { signal: canceling.signal });
          return [line.split(' ')[0], await callAgain(agent)];
        },
      ),
    ),

  // resume() calls back before it returns.
  're-entered': () =>
    withServer(
      (socket, { id }) => {
        socket.write(response(200, [SSE_FIELD, 'transfer-encoding: chunked']));
        const text = `${flood(id, 2000, 300)}${event(id, 2000, COMPLETED)}`;
        for (let at = 0; at < text.length; at += 5000) socket.write(chunk(text.slice(at, at + 5000)));
        socket.write(LAST_CHUNK);
      },
      async (server, agent) => {
        const stream = openStream(agent, server.origin, { eventIds: 'sequential' });
        let events = 0;
        let inOrder = true;
        // Now one by one, now many at once; now at once, now later.
        for (;;) {
          const asked = Array.from({ length: 1 + (events % 7) }, () => stream.next());
          const items = await Promise.all(asked);
          for (const { done, value } of items) {
            if (done === true) continue;
            inOrder &&= value.id === String(events);
            events++;
          }
          if (items.some(({ done }) => done)) break;
          if (events % 50 === 0) await pass(1);
        }
        return [events, inOrder];
      },
    ),

  'refused-in-the-head': () => forEachFraming((framing) => refusedInOnePacket(framing, ['content-type: text/html'], resultText, callOutcome)),
  'refused-in-the-body': () => forEachFraming((framing) => refusedInOnePacket(framing, [JSON_FIELD], (id) => resultText(id, 'x'.repeat(2000)), callOutcome)),
  'refused-in-an-event': () =>
    forEachFraming((framing) => refusedInOnePacket(framing, [SSE_FIELD], (id) => `retry: 1\n\n${streamBody(id)}`, streamOutcome)),

  // The last of a response is in the packet in which it is held back.
  'paused-in-the-last-packet': () =>
    forEachFraming((framing) =>
      withServer(
        (socket, { id }) => {
          const text = flood(id, 40) + event(id, 40, COMPLETED);
          const lengthy = framing.fields.some((field) => field.startsWith('content-length'));
          const fields = lengthy ? ['connection: close', `content-length: ${text.length}`] : framing.fields;
          socket.end(Buffer.concat([response(200, [SSE_FIELD, ...fields]), framing.frame(text), Buffer.from(framing.end)]));
        },
        async (server, agent) => {
          const stream = openStream(agent, server.origin);
          await stream.next();
          await pass(50);
          return [await drain(stream), await callAgain(agent)];
        },
      ),
    ),

  'a-consumer-that-throws': () =>
    withServer(
      (socket, { id }) => {
        socket.write(Buffer.concat([response(200, [SSE_FIELD, 'transfer-encoding: chunked']), chunk(flood(id, 100))]));
      },
      async (server, agent) => {
        const thrown: unknown[] = [];
        for (const after of [1, 2, 50]) {
          let events = 0;
          try {
            for await (const _ of openStream(agent, server.origin)) {
              events++;
              if (events === after) throw new RangeError('of the consumer');
            }
          } catch (error) {
            thrown.push([events, error instanceof RangeError]);
          }
        }
        // A continuation that throws is the consumer's own rejection.
        const stream = openStream(agent, server.origin);
        const own = await stream.next().then(() => {
          throw new RangeError('of the continuation');
        }).catch((error: unknown) => error instanceof RangeError);
        await stream.return();
        await until(() => server.sockets.size === 0, 'all connections are let go of');
        return [thrown, own, await callAgain(agent)];
      },
    ),

  // abort() costs the connection: an agent that closes a moment after its last event is waited for.
  'a-hundred-early-ends': () =>
    withServer(
      (socket, { id }) => {
        socket.write(Buffer.concat([response(200, [SSE_FIELD, 'transfer-encoding: chunked']), chunk(streamBody(id))]));
        setTimeout(() => socket.write(LAST_CHUNK), 2);
      },
      async (server, agent) => {
        const lines = new Set<string>();
        for (let i = 0; i < 50; i++) lines.add(await streamOutcome(agent, server.origin));
        const waited = server.connections;
        for (let i = 0; i < 50; i++) {
          for await (const { id } of openStream(agent, server.origin)) if (id === '2') break;
          await pass(4);
        }
        // The next call may come before undici has its connection ready again: then there are two.
        return [[...lines], waited <= 2, server.connections <= 3];
      },
    ),

  'ends-of-all-kinds-at-once': () =>
    withServer(
      (socket, { id, line }) => {
        if (line.includes('good')) socket.write(good(id));
        else if (line.includes('reset')) socket.resetAndDestroy();
        else if (line.includes('stream')) socket.write(Buffer.concat([response(200, [SSE_FIELD, 'transfer-encoding: chunked']), chunk(flood(id, 100))]));
      },
      async (server, agent) => {
        const canceling = new AbortController();
        const options = { signal: canceling.signal, timeoutMs: 3_600_000, idleTimeoutMs: 3_600_000 };
        const eight = <T>(run: () => T): T[] => Array.from({ length: 8 }, run);
        const silent = eight(() => callOutcome(agent, `${server.origin}/silent`, options));
        const streams = eight(() => openStream(agent, `${server.origin}/stream`, options));
        const ended = await Promise.all([
          ...eight(() => callOutcome(agent, `${server.origin}/good`, options)),
          ...eight(() => callOutcome(agent, `${server.origin}/reset`, options)),
          ...streams.map((stream) => firstOf(stream)),
        ]);
        await until(() => server.requests.length === 32, 'all requests');
        canceling.abort();
        const canceled = await Promise.all([...silent, ...streams.map((stream) => outcome(stream.next()))]);
        return [[...new Set(ended)], [...new Set(canceled)]];
      },
    ),

  // No answer is waited for any more, and no clock of an hour keeps the process.
  'nothing-left': () =>
    withServer(
      (socket, { line, id }) => {
        if (!line.includes('silent')) socket.write(good(id));
      },
      async (server, agent) => {
        const long = { timeoutMs: 3_600_000, idleTimeoutMs: 3_600_000, connectTimeoutMs: 3_600_000 };
        const canceling = new AbortController();
        const silent = callOutcome(agent, `${server.origin}/silent`, { ...long, signal: canceling.signal });
        const answered = await callOutcome(agent, server.origin, long);
        await call(agent, server.origin, long);
        canceling.abort();
        return [answered, await silent];
      },
    ),
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const name of process.argv.slice(2)) {
    const scenario = SCENARIOS[name];
    if (scenario === undefined) throw new Error('There is no such scenario');
    console.log(JSON.stringify([name, await scenario()]));
  }
}
