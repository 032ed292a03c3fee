/**
 * A run through the pure layers alone: no socket, no clock, no promise. Bytes in, verdict out, in any chunking.
 */
import { SendMessageRequest } from '@a2a-js/sdk';
import type { Dialect, UnaryName } from '../../lib/dialect/dialect.js';
import { ANSWERS } from '../../lib/dialect/identity.js';
import { STREAM_REQUESTS, UNARY_REQUESTS, checkRequest } from '../../lib/dialect/request.js';
import { v0_3 } from '../../lib/dialect/v0_3.js';
import { v1_0 } from '../../lib/dialect/v1_0.js';
import type { Schema } from '../../lib/dialect/values.js';
import { FAILURE_RULES, Refusal } from '../../lib/failure.js';
import { Body, bodyRefusal, decodeError, judgeBody, type UnaryJudge } from '../../lib/unary.js';
import type { EventIdMode } from '../../lib/wire/event_ids.js';
import { judgeHead, readHead, type BodyPlan } from '../../lib/wire/http.js';
import { ResponseDecoder } from '../../lib/wire/jsonrpc.js';
import { Lifecycle } from '../../lib/wire/lifecycle.js';
import { SseParser } from '../../lib/wire/sse.js';
import { DEFAULT_STATUS, bodyPieces, headersOf } from './bytes.js';
import type { Run, ShortResponse } from './corpus.js';
import type { Item, Observed } from './verdict.js';

const DIALECTS: Readonly<Record<Run['dialect'], Dialect>> = { '1.0': v1_0, '0.3': v0_3 };
const ID = '0123456789abcdef0123456789abcdef';

/** How a body reaches the layers. */
export type Chunking = 'all at once' | 'byte by byte';

/** Judges a run whose response is in the short form. */
export function judgeRun(run: Run, response: ShortResponse, chunking: Chunking): Observed {
  const items: Item[] = [];
  try {
    judge(run, response, chunking, items);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { rule, path, code } = error;
    return { items, failure: { kind: FAILURE_RULES[rule], rule, path, code } };
  }
  return { items };
}

function judge(run: Run, response: ShortResponse, chunking: Chunking, items: Item[]): void {
  const dialect = DIALECTS[run.dialect];
  const maxResponseBytes = Number(run.options['maxResponseBytes']);
  const raw = headersOf(response, run.isStream).flat();
  const head = readHead(response.status ?? DEFAULT_STATUS, {}, raw.map((text) => Buffer.from(text, 'latin1')));
  const plan = judgeHead(head, {
    stream: run.isStream,
    maxResponseBytes,
    errorMediaType: dialect.errorMediaType,
    allowPlainTextResults: !run.isStream && run.options['allowPlainTextResults'] === true,
  });
  const whole = Buffer.concat(bodyPieces(response.body, { id: ID }));
  const chunks = chunking === 'all at once' ? [whole] : Array.from(whole, (byte) => Buffer.of(byte));
  if (plan.kind === 'events') {
    judgeStream(run, dialect, chunks, items);
    return;
  }
  const body = new Body(maxResponseBytes);
  for (const chunk of chunks) if (!body.add(chunk)) throw bodyRefusal(plan, new Refusal('limit.response_bytes'));
  items.push(judgeWhole(run, dialect, plan, body.whole()));
}

function judgeWhole(run: Run, dialect: Dialect, plan: BodyPlan, body: Buffer): Item {
  if (run.isStream) {
    if (plan.kind !== 'error') throw new TypeError('A body that is no stream can only be an error');
    const { value, raw } = decodeError(body, new ResponseDecoder(ID), plan);
    return { value, raw };
  }
  const { result, raw } = judgeBody(body, plan, ID, unaryJudge(run, dialect));
  return { value: result, raw };
}

function unaryJudge(run: Run, dialect: Dialect): UnaryJudge<unknown> {
  const { operation } = run.case;
  const { errorMediaType } = dialect;
  if (operation === 'call') return { decode: (result) => result, resultOptional: false, errorMediaType };
  const name = operation as UnaryName;
  return { decode: decoderOf(run, dialect, name), resultOptional: name === 'deleteTaskPushNotificationConfig', errorMediaType };
}

/** One operation's parts, whose types the table of operations relates and a loop over names cannot. */
interface Operation {
  readonly request: Schema<unknown>;
  readonly decode: ((result: unknown) => unknown) | undefined;
  readonly answers: (asked: unknown, decoded: unknown) => boolean;
}

function decoderOf(run: Run, dialect: Dialect, name: UnaryName): (result: unknown) => unknown {
  const operation = { request: UNARY_REQUESTS[name], decode: dialect.unary[name]?.decode, answers: ANSWERS[name] } as Operation;
  const asked = checkRequest(operation.request, requestOf(run));
  return (result) => {
    const decoded = operation.decode?.(result);
    if (!operation.answers(asked, decoded)) throw new Refusal('a2a.identity');
    return decoded;
  };
}

function requestOf(run: Run): unknown {
  const { operation } = run.case;
  const isMessage = operation === 'sendMessage' || operation === 'sendStreamingMessage';
  return isMessage ? SendMessageRequest.fromJSON(run.params) : run.params;
}

function lifecycleOf(run: Run, dialect: Dialect): Lifecycle {
  if (run.case.operation === 'subscribeToTask') {
    const { id } = checkRequest(STREAM_REQUESTS.subscribeToTask, run.params);
    return new Lifecycle({ taskId: id, contextId: '', firstEvent: dialect.firstEvent.subscribeToTask });
  }
  const { message } = checkRequest(STREAM_REQUESTS.sendStreamingMessage, requestOf(run));
  const { taskId = '', contextId = '' } = message ?? {};
  return new Lifecycle({ taskId, contextId, firstEvent: dialect.firstEvent.sendStreamingMessage });
}

function judgeStream(run: Run, dialect: Dialect, chunks: readonly Buffer[], items: Item[]): void {
  const bound = (name: string): number => Number(run.options[name] ?? Infinity);
  const parser = new SseParser({
    maxEventBytes: bound('maxEventBytes'),
    maxStreamBytes: bound('maxStreamBytes'),
    maxStreamEvents: bound('maxStreamEvents'),
    eventIds: (run.options['eventIds'] ?? 'required') as EventIdMode,
  });
  const lifecycle = lifecycleOf(run, dialect);
  const decoder = new ResponseDecoder(ID);
  for (const chunk of chunks) {
    parser.push(chunk);
    for (let frame = parser.next(); frame !== undefined; frame = parser.next()) {
      const { value, raw } = decoder.decode(frame.data);
      if (frame.isError) throw new Refusal('sse.event_name');
      const event = dialect.decodeEvent(value);
      lifecycle.accept(event, dialect.isFinal(value));
      items.push({ value: event, raw, id: frame.id });
    }
  }
  // What is no whole event cannot undo an end.
  if (lifecycle.ended) return;
  parser.end();
  lifecycle.close();
}
