/** What the transports of a `StrictTransportFactory` are told when it is made, and with each call. */
import type { RequestOptions } from '@a2a-js/sdk/client';
import type { Dispatcher } from 'undici';
import * as v from 'valibot';
import { isPlain } from '../dialect/values.js';
import { STREAM_OPTIONS } from '../options.js';
import { optionChecker, refused, type OptionTable } from '../policy/checker.js';
import { checkHeaders } from '../policy/headers.js';
import { HTTP_OPTIONS, limit, type HttpOptions, type HttpPolicy } from '../policy/http.js';
import { checkDispatcher } from '../wire/dispatcher.js';
import type { EventIdMode } from '../wire/event_ids.js';

/** Bounds of what an agent may send and be sent, in bytes but for `maxStreamEvents`: positive safe integers (`options.limit`). */
export interface TransportLimits {
  /** Of a request body (`request.bytes`). Absent: no bound. */
  readonly maxRequestBytes?: number | undefined;
  /** Of an answer that is no stream (`limit.response_bytes`). Absent: 8,388,608. */
  readonly maxResponseBytes?: number | undefined;
  /** Of one event of a stream (`limit.event_bytes`). Absent: 1,048,576. */
  readonly maxEventBytes?: number | undefined;
  /** Of a whole stream (`limit.stream_bytes`). Absent: no bound. */
  readonly maxStreamBytes?: number | undefined;
  /** Events of a whole stream (`limit.stream_events`). Absent: no bound. */
  readonly maxStreamEvents?: number | undefined;
}

/**
 * What every call of a factory's transports keeps to. Read once, when the factory is made. `timeoutMs` is for streams too; a single call gets
 * a clock of its own by its `signal`.
 */
export interface StrictTransportOptions extends Omit<HttpOptions, 'signal'> {
  /** An undici `Agent` or the like, which the caller makes, shares and closes. */
  readonly dispatcher: Dispatcher;
  readonly limits?: TransportLimits | undefined;
  /** What is asked of event ids. Absent: `optional`, as official servers send none; an id that repeats is refused all the same. */
  readonly eventIds?: EventIdMode | undefined;
  /** Where 0.3 is spoken, a whole answer may come as `text/plain`, as the official Go server of 0.3 sends it. */
  readonly allowPlainTextResults?: true | undefined;
}

/** The same, checked. */
export interface TransportPolicy extends Omit<HttpPolicy, 'signal'> {
  readonly dispatcher: Dispatcher;
  readonly limits: TransportLimits & { readonly maxResponseBytes: number; readonly maxEventBytes: number };
  readonly eventIds: EventIdMode;
  readonly allowPlainTextResults: true | undefined;
}

const { maxRequestBytes, maxStreamBytes, maxStreamEvents } = STREAM_OPTIONS;

const checkLimits = optionChecker<TransportPolicy['limits']>({
  maxRequestBytes,
  maxResponseBytes: ['options.limit', v.optional(limit, 8 * 1024 * 1024)],
  maxEventBytes: ['options.limit', v.optional(limit, 1024 * 1024)],
  maxStreamBytes,
  maxStreamEvents,
});

const { signal, ...HTTP } = HTTP_OPTIONS;

/** @throws {Refusal} `options.*` */
export const checkTransportOptions: (options: unknown) => TransportPolicy = optionChecker<TransportPolicy>({
  dispatcher: [
    'options.dispatcher',
    v.pipe(
      v.custom<Dispatcher>(() => true),
      v.check((value) => checkDispatcher(value) === undefined),
    ),
  ],
  limits: [
    'options.limit',
    v.pipe(
      v.optional(v.unknown(), () => ({})),
      v.transform(checkLimits),
    ),
  ],
  eventIds: ['options.dialect', v.optional(v.picklist(['required', 'sequential', 'optional']), 'optional')],
  allowPlainTextResults: STREAM_OPTIONS.allowPlainTextResults,
  ...HTTP,
});

/** What the SDK hands on with one call, taken apart. */
export interface ServiceParameters {
  /** The version that `A2A-Version` names. */
  readonly version: string | undefined;
  /** The URIs that `A2A-Extensions` lists. */
  readonly extensions: readonly string[];
  /** All others: headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
}

interface CallSettings {
  readonly signal: AbortSignal | undefined;
  readonly serviceParameters: ServiceParameters;
  readonly context: unknown;
}

const CALL: OptionTable<CallSettings> = {
  signal,
  serviceParameters: [
    'options.headers',
    v.pipe(
      v.optional(v.unknown(), () => ({})),
      v.transform(serviceParametersOf),
    ),
  ],
  // The SDK's interceptors' own: nothing of it is for the agent.
  context: ['options.unknown', v.unknown()],
};

const checkCall = optionChecker(CALL);

/** @throws {Refusal} `options.*` */
export function checkRequestOptions(options: RequestOptions | undefined): CallSettings {
  return checkCall(options ?? {});
}

/** A2A 1.0 section 3.2.6; 0.3 had another name for the extensions. Names are field names: their case does not matter. */
function serviceParametersOf(given: unknown): ServiceParameters {
  if (!isPlain(given)) throw refused('options.headers', 'the service parameters are no plain object');
  let version: string | undefined;
  let extensions: string | undefined;
  const others: [string, unknown][] = [];
  for (const [name, value] of Object.entries(given)) {
    switch (name.toLowerCase()) {
      case 'a2a-version':
        version = only(name, value, version);
        break;
      case 'a2a-extensions':
      case 'x-a2a-extensions':
        extensions = only(name, value, extensions);
        break;
      default:
        others.push([name, value]);
    }
  }
  return { version, extensions: uris(extensions), headers: checkHeaders(others) };
}

function only(name: string, value: unknown, before: string | undefined): string {
  if (typeof value !== 'string') throw refused('options.headers', `no text: ${name}`);
  if (before !== undefined) throw refused('options.headers', `twice: ${name}`);
  return value;
}

/** The list as the SDK writes it, and with the white space that RFC 9110 section 5.6.1 allows. Each is checked by the call. */
function uris(list = ''): string[] {
  return list === '' ? [] : list.split(',').map((uri) => uri.trim());
}
