/** What the options say of every request: connections, clocks, bounds, headers, the card. */
import type { JWK } from 'jose';
import type { Agent } from 'undici';
import { isPlain } from '../dialect/values.js';
import type { CardVerification } from '../discovery/index.js';
import { hardenedAgent } from '../hardened/agent.js';
import type { EventIdMode } from '../wire/event_ids.js';
import { readText } from './files.js';
import type { Given } from './given.js';
import { headersOf } from './headers.js';
import type { Io } from './io.js';
import { UsageError } from './usage_error.js';

/** A call whose time the user does not say, and that no agent has to think about. */
export const CALL_MS = 30_000;
const CONNECT_MS = 30_000;
const IDLE_MS = 5 * 60_000;
/** As long as a clock may be set to. */
const FOR_EVER_MS = 2 ** 31 - 1;

/** Connections as the options want them. Whoever asks closes it. */
export function dispatcherOf(given: Given): Agent {
  const pem = (name: 'ca' | 'cert' | 'key'): string | undefined => {
    const file = given.text(name);
    return file === undefined ? undefined : readText(`--${name}`, file);
  };
  return hardenedAgent({
    network: given.choice<'any' | 'public' | 'loopback'>('network', ['any', 'public', 'loopback']) ?? 'any',
    ca: pem('ca'),
    cert: pem('cert'),
    key: pem('key'),
    // The clock of the call is the one that counts.
    connectTimeoutMs: FOR_EVER_MS,
  });
}

/** Headers and clocks. @param timeoutMs of a call whose time the user does not say */
export function httpOf(given: Given, env: Io['env'], timeoutMs: number | undefined) {
  return {
    ...headersOf(given, env),
    allowCleartextCredentials: given.flag('allow-cleartext-credentials'),
    // Where nothing is said, a RemoteAgent has a clock of its own.
    connectTimeoutMs: given.time('connect-timeout', CONNECT_MS) ?? FOR_EVER_MS,
    idleTimeoutMs: given.time('idle-timeout', IDLE_MS),
    timeoutMs: given.time('timeout', timeoutMs),
  };
}

/** Bounds of what is sent and received. */
export function boundsOf(given: Given) {
  return {
    maxRequestBytes: given.size('max-request-bytes'),
    maxResponseBytes: given.size('max-response-bytes') ?? 8 * 1024 ** 2,
    maxEventBytes: given.size('max-event-bytes') ?? 1024 ** 2,
    maxStreamBytes: given.size('max-stream-bytes') ?? 64 * 1024 ** 2,
    maxStreamEvents: given.count('max-stream-events'),
  };
}

export function eventIdsOf(given: Given): EventIdMode {
  return given.choice('event-ids', ['optional', 'required', 'sequential']) ?? 'optional';
}

/** How the card is fetched, but for its signatures. */
export function cardOf(given: Given) {
  return {
    maxCardBytes: given.size('max-card-bytes'),
    cardPath: given.text('card-path'),
    allowLegacyCardPath: given.flag('allow-legacy-card-path'),
  };
}

/** What is not a public-key algorithm is none. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'];

/** How the signatures of the card are judged, where the user gives keys. */
export function verificationOf(given: Given): CardVerification | undefined {
  const file = given.text('jwks');
  const requireSignature = given.flag('require-signature');
  if (file === undefined) {
    if (requireSignature === true) throw new UsageError('--require-signature goes with --jwks');
    return undefined;
  }
  return { keys: keysOf(readText('--jwks', file)), algorithms: ALGORITHMS, requireSignature };
}

/** RFC 7517 section 5: a set, or one key. What is no key, the verification says. */
function keysOf(text: string): readonly JWK[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError('--jwks: the file is no JSON');
  }
  const keys: unknown = isPlain(value) && Object.hasOwn(value, 'keys') ? value['keys'] : [value];
  if (!Array.isArray(keys)) throw new UsageError('--jwks: the keys are no list');
  return keys as readonly JWK[];
}
