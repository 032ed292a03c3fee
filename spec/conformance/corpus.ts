/**
 * The corpus of `fixtures/`, as data: what a case may say, and how its files are read. The format is `fixtures/README.md`.
 */
import { readFileSync, readdirSync } from 'node:fs';
import type { Delivery, FailureKind, FailureRule } from '../../lib/index.js';
import { violations } from './schema.js';

export type Dialect = '1.0' | '0.3';

/** Bytes, said readably. A string is UTF-8 with `$ID` and `$LENGTH` replaced. */
export type Piece = string | { base64: string } | { repeat: string; times: number } | { fill: string; to: number };
export type Text = string | readonly Piece[];

export interface EventBody {
  readonly id?: string;
  readonly event?: string;
  readonly result?: unknown;
  readonly error?: unknown;
}

export type Body = Text | { result: unknown } | { error: unknown } | { events: readonly (string | EventBody)[] };

/** A whole response, framed by whoever plays it. */
export interface ShortResponse {
  readonly status?: number;
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly framing?: 'content-length' | 'chunked' | 'close';
  readonly body: Body;
}

/** What is done on the connection, step by step. */
export type Step =
  | { readonly send: Text }
  | { readonly body: Text }
  | { readonly chunk: Text }
  | { readonly delay: number }
  | { readonly reset: true }
  | { readonly end: true };

export interface RawResponse {
  readonly raw: readonly Step[];
}

export interface Accepted {
  readonly ok: true;
  readonly result?: unknown;
  readonly raw?: string;
  readonly events?: number;
  readonly rawEvents?: readonly string[];
  readonly ids?: readonly (string | null)[];
}

export interface Refused {
  readonly ok?: never;
  readonly kind: FailureKind;
  readonly rule: FailureRule;
  readonly status?: number;
  readonly code?: number;
  readonly path?: string;
  readonly retryAfterMs?: number;
  readonly delivery?: Delivery | null;
  readonly eventsBefore?: number;
}

export interface Case {
  readonly name: string;
  readonly why?: string;
  readonly dialect: Dialect | readonly Dialect[];
  readonly operation: Operation;
  readonly params?: unknown;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly request?: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string | null>>;
    readonly params?: unknown;
  };
  readonly response: ShortResponse | RawResponse;
  readonly expect: Accepted | Refused;
}

export const OPERATIONS = [
  'sendMessage',
  'sendStreamingMessage',
  'getTask',
  'listTasks',
  'cancelTask',
  'subscribeToTask',
  'createTaskPushNotificationConfig',
  'getTaskPushNotificationConfig',
  'listTaskPushNotificationConfigs',
  'deleteTaskPushNotificationConfig',
  'getExtendedAgentCard',
  'call',
] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface Layer {
  readonly layer: string;
  readonly about: string;
  readonly cases: readonly Case[];
}

/** A case in one of its dialects, with every default filled in. */
export interface Run {
  readonly name: string;
  readonly case: Case;
  readonly dialect: Dialect;
  readonly isStream: boolean;
  readonly params: unknown;
  readonly options: Readonly<Record<string, unknown>>;
}

const FIXTURES = new URL('../../fixtures/', import.meta.url);
const CASES = new URL('wire/', FIXTURES);

function readJson(url: URL): unknown {
  return JSON.parse(readFileSync(url, 'utf8'));
}

export const FILES = readdirSync(CASES).sort();

/** What is wrong with the shape of a file of cases; empty where nothing is. */
export function misshapen(file: string): string[] {
  return violations(readJson(new URL('case.schema.json', FIXTURES)), readJson(new URL(file, CASES)));
}

/** A file of cases. Its shape is the schema's: `misshapen` says so, and a test of its own holds every file against it. */
export function readLayer(file: string): Layer {
  return readJson(new URL(file, CASES)) as Layer;
}

/** The rules that the corpus leaves to other tests, each with its reason. */
export function rulesElsewhere(): ReadonlyMap<string, string> {
  const { rules } = readJson(new URL('not-here.json', FIXTURES)) as { rules: Record<string, string> };
  return new Map(Object.entries(rules));
}

export function isRaw(response: ShortResponse | RawResponse): response is RawResponse {
  return 'raw' in response;
}

const MESSAGE = { messageId: 'message-1', role: 'ROLE_USER', parts: [{ text: 'hi' }] };

/** What is asked where a case does not say. */
const DEFAULT_PARAMS: Readonly<Record<Operation, unknown>> = {
  sendMessage: { message: MESSAGE },
  sendStreamingMessage: { message: MESSAGE },
  getTask: { id: 'task-1' },
  listTasks: {},
  cancelTask: { id: 'task-1' },
  subscribeToTask: { id: 'task-1' },
  createTaskPushNotificationConfig: { taskId: 'task-1', url: 'https://caller.example/hook' },
  getTaskPushNotificationConfig: { taskId: 'task-1', id: 'config-1' },
  listTaskPushNotificationConfigs: { taskId: 'task-1' },
  deleteTaskPushNotificationConfig: { taskId: 'task-1', id: 'config-1' },
  getExtendedAgentCard: {},
  call: { method: 'Echo', params: {} },
};

/** A case that hangs fails by its clock rather than by the test runner's. */
const DEFAULT_OPTIONS = { maxResponseBytes: 1024 * 1024, timeoutMs: 20_000 };
const DEFAULT_STREAM_OPTIONS = { ...DEFAULT_OPTIONS, maxEventBytes: 64 * 1024 };

/** The runs that a case stands for: one in each of its dialects. */
export function runsOf(one: Case): Run[] {
  const isStream = one.operation === 'sendStreamingMessage' || one.operation === 'subscribeToTask';
  const dialects = typeof one.dialect === 'string' ? [one.dialect] : one.dialect;
  return dialects.map((dialect) => ({
    name: dialects.length === 1 ? one.name : `${one.name} (${dialect})`,
    case: one,
    dialect,
    isStream,
    params: one.params ?? DEFAULT_PARAMS[one.operation],
    options: { ...(isStream ? DEFAULT_STREAM_OPTIONS : DEFAULT_OPTIONS), ...one.options },
  }));
}
