import { ROOT_CONTEXT, SpanKind, SpanStatusCode, context, metrics, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Agent } from 'undici';
import { StrictClient, userText, type CallInterceptor, type CallMessage, type StreamOptions } from '../../lib/index.js';
import { startAgent, type RunningAgent } from '../demo/agent.js';
import { failureFrom } from '../hostile/calls.js';
import { endedTask, record } from '../support/caller_server.js';
import { writeRecipes, type Recipes } from './recipes.js';

let recipes: Recipes;
let agent: RunningAgent;
let dispatcher: Agent;
let client: StrictClient;
let options: StreamOptions;
const message = { message: userText('one two') };

before(async () => {
  recipes = writeRecipes();
  agent = await startAgent();
  dispatcher = new Agent();
  client = new StrictClient(dispatcher);
  options = { endpoint: agent.url, protocolVersion: '1.0', maxResponseBytes: 100_000, maxEventBytes: 100_000, eventIds: 'optional' };
});
after(async () => {
  await dispatcher.destroy();
  await agent.close();
  recipes.remove();
});

const load = (name: string): Promise<unknown> => import(pathToFileURL(join(recipes.folder, name)).href);

/** Runs a recipe as a person would who pasted it into files. */
function run(name: string, url: string): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, ['--import', 'tsx', name, url], { cwd: recipes.folder, timeout: 30_000 });
}

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

describe('The recipes of docs/observability.md', () => {
  test('run against a real agent as they stand', async () => {
    const [traced, audited] = await Promise.all([run('traced.ts', agent.url), run('audited.ts', agent.url)]);
    assert.deepEqual([traced.stderr, audited.stderr], ['', '']);
    assert.match(traced.stdout, /name: 'SendMessage'/);
    // It asks for the ids.
    assert.match(traced.stdout, /'a2a\.task\.id': '[^']+'/);
    assert.match(traced.stdout, /'a2a\.context\.id': '[^']+'/);
    const [line = '', proven] = audited.stdout.trimEnd().split('\n');
    assert.equal(proven, 'true');
    assert.equal((JSON.parse(line) as { operation: string }).operation, 'sendMessage');
  });
});

describe('The recipe for OpenTelemetry', () => {
  const spans = new InMemorySpanExporter();
  const measures = new InMemoryMetricExporter(AggregationTemporality.DELTA);
  const reader = new PeriodicExportingMetricReader({ exporter: measures, exportIntervalMillis: 60_000 });
  let interceptors: CallInterceptor[];

  before(async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }));
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    const { traceCalls } = (await load('tracing.ts')) as { traceCalls: (options?: { ids?: boolean }) => CallInterceptor };
    interceptors = [traceCalls()];
  });
  after(async () => {
    await reader.shutdown();
  });
  beforeEach(async () => {
    spans.reset();
    await reader.forceFlush();
    measures.reset();
  });

  test('makes one span of a call, a child of the caller\'s, and sends its traceparent', async () => {
    const server = await record(endedTask);
    try {
      const tracer = trace.getTracer('test');
      const outer = tracer.startSpan('outer', {}, ROOT_CONTEXT);
      await context.with(trace.setSpan(ROOT_CONTEXT, outer), () =>
        client.sendMessage({ ...options, endpoint: `${server.origin}/path?key=hush`, interceptors }, message),
      );
      outer.end();
      const [span] = spans.getFinishedSpans();
      assert.ok(span);
      assert.deepEqual([span.name, span.kind, span.status.code], ['SendMessage', SpanKind.CLIENT, SpanStatusCode.UNSET]);
      assert.equal(span.parentSpanContext?.spanId, outer.spanContext().spanId);
      const { traceId, spanId } = span.spanContext();
      assert.deepEqual(server.received[0]!.headers.filter(([name]) => name === 'traceparent'), [['traceparent', `00-${traceId}-${spanId}-01`]]);
      assert.deepEqual({ ...span.attributes, 'jsonrpc.request.id': '' }, {
        'rpc.system.name': 'jsonrpc',
        'rpc.method': 'SendMessage',
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(server.origin).port),
        'a2a.protocol.version': '1.0',
        'jsonrpc.request.id': '',
        'a2a.outcome': 'ok',
        'a2a.delivery': 'answered',
        'a2a.events': 0,
        'http.response.status_code': 200,
      });
      assert.equal(span.attributes['jsonrpc.request.id'], server.received[0]!.rpc.id);
    } finally {
      await server.close();
    }
  });

  test('tells the spans of concurrent calls apart', async () => {
    const server = await record(endedTask);
    try {
      const all = { ...options, endpoint: server.origin, interceptors };
      await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? client.sendMessage(all, message) : drain(client.sendStreamingMessage(all, message)))));
      const sent = new Map(server.received.map(({ rpc, headers }) => [rpc.id, headers.find(([name]) => name === 'traceparent')?.[1]]));
      const finished = spans.getFinishedSpans();
      assert.equal(finished.length, 10);
      for (const span of finished) {
        const { traceId, spanId } = span.spanContext();
        assert.equal(sent.get(span.attributes['jsonrpc.request.id']), `00-${traceId}-${spanId}-01`);
      }
    } finally {
      await server.close();
    }
  });

  test('says which rule a call broke, without a word of the agent\'s, also of a call that was refused', async () => {
    await failureFrom(client.getTask({ ...options, interceptors }, { id: 'no such task' }));
    await failureFrom(client.getTask({ ...options, maxResponseBytes: 0, interceptors }, { id: 'no such task' }));
    const [remote, refused, ...others] = spans.getFinishedSpans();
    assert.ok(remote && refused && others.length === 0);
    assert.deepEqual([remote.name, remote.attributes['error.type'], remote.attributes['a2a.outcome']], ['GetTask', 'remote.error', 'failure']);
    assert.deepEqual(remote.status, { code: SpanStatusCode.ERROR, message: 'A2A transport remote_agent (remote.error)' });
    assert.deepEqual([refused.name, refused.attributes['error.type'], refused.attributes['a2a.delivery']], ['getTask', 'options.limit', 'not_sent']);
    assert.ok(!JSON.stringify([remote.attributes, remote.events, remote.status]).includes('no such task'));
  });

  test('measures duration, size and the time to the first event', async () => {
    await client.sendMessage({ ...options, interceptors }, message);
    await drain(client.sendStreamingMessage({ ...options, interceptors }, message));
    await reader.forceFlush();
    const found = measures.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    const counts = found.map(({ descriptor, dataPoints }) => [
      descriptor.name,
      descriptor.unit,
      dataPoints.map(({ attributes, value }) => [attributes['rpc.method'], (value as { count: number }).count]),
    ]);
    const both = [['SendMessage', 1], ['SendStreamingMessage', 1]];
    assert.deepEqual(counts, [
      ['rpc.client.call.duration', 's', both],
      ['a2a.client.first_event.duration', 's', [['SendStreamingMessage', 1]]],
      ['rpc.client.response.size', 'By', both],
    ]);
    const attributes = found.flatMap(({ dataPoints }) => dataPoints.flatMap((point) => Object.keys(point.attributes)));
    assert.ok(!attributes.includes('jsonrpc.request.id'), 'nothing that is different for each call');
  });

  test('has no ids of the task and the context unless it is asked for them', async () => {
    await client.sendMessage({ ...options, interceptors }, message);
    const [without] = spans.getFinishedSpans();
    assert.ok(without && !Object.keys(without.attributes).some((name) => name === 'a2a.task.id' || name === 'a2a.context.id'));
  });
});

describe('The recipe for an audit trail', () => {
  test('writes one line a call, with what proves the request and the results and nothing of what they say', async () => {
    const { auditCalls } = (await load('audit.ts')) as { auditCalls: (write: (line: string) => void) => void };
    const lines: string[] = [];
    auditCalls((line) => {
      lines.push(line);
    });
    const bodies: Buffer[] = [];
    const watched = new StrictClient(
      dispatcher.compose((dispatch) => (dispatched, handler) => {
        if (Buffer.isBuffer(dispatched.body)) bodies.push(dispatched.body);
        return dispatch(dispatched, handler);
      }),
    );
    const sha256 = (...parts: readonly Uint8Array[]): string => createHash('sha256').update(Buffer.concat(parts)).digest('hex');

    const { raw } = await watched.sendMessage(options, message);
    assert.equal(lines.length, 1, 'before the caller goes on');
    const events: Uint8Array[] = [];
    for await (const item of watched.sendStreamingMessage(options, message)) events.push(item.raw);
    await failureFrom(watched.getTask({ ...options, maxResponseBytes: 0 }, { id: 'hush-hush' }));
    await failureFrom(watched.getTask(options, { id: 'hush-hush' }));

    assert.ok(lines.every((line) => line.indexOf('\n') === line.length - 1));
    const trail = lines.map((line) => JSON.parse(line) as Partial<CallMessage> & { at: string });
    assert.deepEqual(
      trail.map(({ operation, outcome, rule, delivery, events: count }) => [operation, outcome, rule, delivery, count]),
      [
        ['sendMessage', 'ok', undefined, 'answered', 0],
        ['sendStreamingMessage', 'ok', undefined, 'answered', events.length],
        ['getTask', 'failure', 'options.limit', 'not_sent', 0],
        ['getTask', 'failure', 'remote.error', 'answered', 0],
      ],
    );
    const [one, many, refused, remote] = trail;
    assert.deepEqual([one?.requestSha256, one?.resultSha256], [sha256(bodies[0]!), sha256(raw)]);
    assert.deepEqual([many?.requestSha256, many?.resultSha256], [sha256(bodies[1]!), sha256(...events)]);
    assert.deepEqual([refused?.requestSha256, refused?.resultSha256], [undefined, undefined]);
    assert.deepEqual([remote?.requestSha256, remote?.resultSha256], [sha256(bodies[2]!), undefined]);
    assert.ok(one?.taskId !== undefined && many?.contextId !== undefined);
    for (const { at } of trail) assert.ok(Math.abs(Date.now() - Date.parse(at)) < 60_000);
    assert.ok(!lines.join('').includes('hush-hush') && !lines.join('').includes('one two') && !lines.join('').includes('measures'));
  });
});
