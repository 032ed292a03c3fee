/**
 * The one error a call ends with: its kinds, its rules, and what they may say.
 *
 * A rule is a constant of this file. Nothing that a peer, an endpoint or a caller supplied becomes part of a message or an own
 * property, except the numbers `status`, `code` and `retryAfterMs`.
 */

/** Whose fault a failure is, and so what a caller can do about it. */
export type FailureKind =
  | 'invalid_argument'
  | 'protocol'
  | 'remote_agent'
  | 'unavailable'
  | 'deadline_exceeded'
  | 'canceled'
  | 'response_too_large';

/** Every rule with the one kind it belongs to, in the order in which an answer meets them. */
export const FAILURE_RULES = Object.freeze({
  // The caller's side: nothing has been sent.
  'options.unknown': 'invalid_argument',
  'options.endpoint': 'invalid_argument',
  'options.dialect': 'invalid_argument',
  'options.limit': 'invalid_argument',
  'options.headers': 'invalid_argument',
  'options.interceptors': 'invalid_argument',
  'options.signal': 'invalid_argument',
  'options.time': 'invalid_argument',
  'options.operation': 'invalid_argument',
  'options.dispatcher': 'invalid_argument',
  'options.cleartext_credentials': 'invalid_argument',
  'request.params': 'invalid_argument',
  'request.bytes': 'invalid_argument',
  'interceptor.before': 'invalid_argument',
  'interceptor.after': 'invalid_argument',
  'network.refused': 'invalid_argument',
  // Time and cancellation.
  'deadline.signal': 'deadline_exceeded',
  'deadline.connect': 'deadline_exceeded',
  'deadline.total': 'deadline_exceeded',
  'deadline.idle': 'deadline_exceeded',
  'canceled.signal': 'canceled',
  // HTTP.
  'http.connect': 'unavailable',
  'http.connection_lost': 'unavailable',
  'http.malformed': 'protocol',
  'limit.head_bytes': 'response_too_large',
  'http.redirect': 'unavailable',
  'http.status': 'unavailable',
  'http.content_type': 'protocol',
  'http.content_encoding': 'protocol',
  'limit.response_bytes': 'response_too_large',
  'http.truncated': 'unavailable',
  // SSE framing.
  'limit.event_bytes': 'response_too_large',
  'limit.stream_bytes': 'response_too_large',
  'limit.stream_events': 'response_too_large',
  'sse.bom': 'protocol',
  'sse.line_ending': 'protocol',
  'sse.field': 'protocol',
  'sse.data_lines': 'protocol',
  'sse.id_invalid': 'protocol',
  'sse.id_missing': 'protocol',
  'sse.id_duplicate': 'protocol',
  'sse.id_gap': 'protocol',
  'sse.event_name': 'protocol',
  'sse.truncated': 'protocol',
  // I-JSON.
  'json.utf8': 'protocol',
  'json.syntax': 'protocol',
  'json.depth': 'protocol',
  'json.duplicate_member': 'protocol',
  'json.forbidden_member': 'protocol',
  'json.surrogate': 'protocol',
  'json.number': 'protocol',
  // JSON-RPC.
  'jsonrpc.members': 'protocol',
  'jsonrpc.version': 'protocol',
  'jsonrpc.id': 'protocol',
  'jsonrpc.result_or_error': 'protocol',
  'jsonrpc.error_object': 'protocol',
  'remote.error': 'remote_agent',
  // A2A payload.
  'a2a.payload': 'protocol',
  'a2a.schema': 'protocol',
  'a2a.identity': 'protocol',
  // Stream lifecycle.
  'stream.first_event': 'protocol',
  'stream.message_only': 'protocol',
  'stream.identity': 'protocol',
  'stream.after_end': 'protocol',
  'stream.incomplete': 'unavailable',
  // Agent cards (a2a-strict/discovery).
  'card.interface': 'protocol',
  'card.unsigned': 'protocol',
  'card.signature': 'protocol',
  'card.keys': 'invalid_argument',
  'card.store': 'invalid_argument',
  // One remote agent (a2a-strict/agent).
  'agent.authorization': 'invalid_argument',
  'agent.artifact_append': 'protocol',
  'agent.task_bytes': 'response_too_large',
  'agent.stream_read': 'invalid_argument',
  // Text (a2a-strict/text).
  'text.address': 'invalid_argument',
  'text.empty': 'invalid_argument',
  'text.closed': 'invalid_argument',
  'text.failed': 'remote_agent',
} as const satisfies Record<string, FailureKind>);

/** The rule that was broken: a stable identifier, documented in the README's table. */
export type FailureRule = keyof typeof FAILURE_RULES;

/**
 * How far the request came. `not_sent`: no byte of it left. `unknown`: some may have. `answered`: a response head came back.
 * A caller that repeats a message safely repeats `not_sent` alone.
 */
export type Delivery = 'not_sent' | 'unknown' | 'answered';

/** Where a failure is seen across two copies of this package in one process. */
const BRAND = Symbol.for('a2a-strict.Failure');

/** What a {@link Failure} says beside its rule. */
export interface FailureDetails {
  readonly delivery: Delivery;
  readonly status?: number | undefined;
  readonly code?: number | undefined;
  readonly path?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * What every call ends with unless it gives the exact answer.
 *
 * Safe to log as it is: `message`, `stack` and the own properties hold constants of this package and numbers alone. The cause (an
 * undici error, the agent's error, an interceptor's throw) may hold secrets and the agent's text; it is reachable through
 * {@link Failure.unwrap} and nothing else.
 */
export class Failure extends Error {
  /** Whose fault it is; one kind for each rule. */
  readonly kind: FailureKind;
  /** The rule that was broken: the README's table says what each refuses. */
  readonly rule: FailureRule;
  /** How far the request came. */
  readonly delivery: Delivery;
  /** The HTTP status, for `http.status`, `http.redirect` and `remote.error`. */
  declare readonly status?: number;
  /** The agent's JSON-RPC error code, for `remote.error`. */
  declare readonly code?: number;
  /**
   * For `a2a.schema`, `a2a.payload` and `request.params`: the place, as member names of the schema and list positions. For `options.*`: the
   * option, where there is one to name.
   */
  declare readonly path?: string;
  /** What a valid `retry-after` asked for, in milliseconds, at most 24 hours. */
  declare readonly retryAfterMs?: number;
  readonly #cause: unknown;

  /** @internal Failures are made by this package; a caller only receives them. */
  constructor(rule: FailureRule, details: FailureDetails) {
    const kind = FAILURE_RULES[rule];
    super(`A2A transport ${kind} (${rule})`);
    this.kind = kind;
    this.rule = rule;
    this.delivery = details.delivery;
    // Declared, not initialised: a property that does not apply is absent, not undefined.
    if (details.status !== undefined) this.status = details.status;
    if (details.code !== undefined) this.code = details.code;
    if (details.path !== undefined) this.path = details.path;
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
    this.#cause = details.cause;
  }

  /**
   * The cause, and the only way to it: an undici error, a {@link RemoteError}, an interceptor's throw, the signal's reason, a JSON syntax
   * error, or what exactly is wrong with an option or a member. `undefined` where the rule says it all. Not to be logged unseen: it may hold secrets and the agent's text.
   */
  unwrap(): unknown {
    return this.#cause;
  }

  /** @internal Whether this copy of the package made it: a proxy, or an object made of the prototype, was not. */
  static isOwn(value: object): value is Failure {
    return #cause in value;
  }
}

function isFailure(value: object): value is Failure {
  if (Failure.isOwn(value)) return true;
  // Another copy's: what it says of itself has to hold together.
  const { [BRAND]: isBranded, kind, rule, unwrap } = value as Record<PropertyKey, unknown>;
  return (
    isBranded === true &&
    !(value instanceof Failure) &&
    value instanceof Error &&
    typeof kind === 'string' &&
    typeof rule === 'string' &&
    typeof unwrap === 'function'
  );
}

// On the prototype, so that no failure carries them as own properties.
Object.defineProperties(Failure.prototype, { name: { value: 'Failure' }, [BRAND]: { value: true } });

/** What {@link Failure.unwrap} gives for `remote_agent`: the agent's own words, checked for nothing but their JSON types. */
export class RemoteError {
  /** The JSON-RPC error code: an integer. */
  readonly code: number;
  /** The agent's message. Untrusted text. */
  readonly message: string;
  /** The agent's `data`, as parsed; `undefined` where it sent none. Untrusted. */
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    this.code = code;
    this.message = message;
    this.data = data;
  }
}

/** A chain of errors longer than this is no error's, but made to be walked for ever. */
const MAX_LINKS = 10_000;
const MAX_ERRORS = 1_000_000;

/**
 * The first {@link Failure} in an error's chain of `cause` (and of the `errors` of an `AggregateError`), or `undefined`. Works over
 * two copies of this package. Never throws, and ends on a chain that loops or grows.
 */
export function failureOf(error: unknown): Failure | undefined {
  const queue: unknown[] = [error];
  const seen = new Set<unknown>();
  for (const item of queue) {
    if (typeof item !== 'object' || item === null || seen.has(item)) continue;
    if (seen.size === MAX_LINKS) return undefined;
    seen.add(item);
    try {
      if (isFailure(item)) return item;
      if ('cause' in item) queue.push(item.cause);
      if ('errors' in item && Array.isArray(item.errors)) {
        for (const other of item.errors as unknown[]) if (queue.length < MAX_ERRORS) queue.push(other);
      }
    } catch {
      // A getter or proxy that throws hides what is behind it, nothing more.
    }
  }
  return undefined;
}

/**
 * What a judge of bytes or values throws: a rule, and where it was broken. The exchange, which knows how far the request came,
 * turns it into a {@link Failure}.
 */
export class Refusal extends Error {
  readonly rule: FailureRule;
  readonly path: string | undefined;
  readonly code: number | undefined;
  readonly reason: unknown;

  constructor(rule: FailureRule, details: { path?: string | undefined; code?: number; reason?: unknown } = {}) {
    super(rule);
    this.rule = rule;
    this.path = details.path;
    this.code = details.code;
    this.reason = details.reason;
  }
}
