/** The settings of a hardened agent: read once and checked before anything is made of them. */
import { X509Certificate } from 'node:crypto';
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import * as v from 'valibot';
import { Refusal } from '../failure.js';
import { optionChecker, type OptionTable } from '../policy/checker.js';
import { limit, none, time } from '../policy/http.js';
import type { NetworkPolicy } from './network.js';

/** One PEM text. */
type Pem = string | Uint8Array;

/**
 * The settings of `hardenedAgent`. Each has a safe default, and what is weaker is asked for by its name. A setting that is misspelt or
 * wrong is refused (`options.*`). Certificate checks have no setting: they cannot be turned off.
 */
export interface HardenedAgentOptions {
  /**
   * Which addresses may be connected to, judged when a connection is made, each time anew: what is refused is `network.refused`, and no
   * packet goes there. A name any of whose addresses is refused is refused whole. Absent: `'public'`.
   */
  readonly network?: NetworkPolicy | undefined;
  /**
   * Resolves names, as `dns.lookup` with `all: true` does (`ENOTFOUND` and the like are `http.connect`). Its answers are judged as all are.
   * Absent: the system's.
   */
  readonly lookup?: LookupFunction | undefined;
  /** The lowest version of TLS: `'1.2'` (RFC 5246) or `'1.3'` (RFC 8446). Absent: `'1.2'`. */
  readonly minTlsVersion?: '1.2' | '1.3' | undefined;
  /** The certificate authorities to trust, in PEM, in place of Node's own. Absent: Node's, which the environment can add to
   * (`NODE_EXTRA_CA_CERTS`, `SSL_CERT_FILE`, …): give them to be sure. */
  readonly ca?: Pem | readonly Pem[] | undefined;
  /** The client's certificate and those between it and its authority, in PEM (mTLS). With it goes `key`. It is not shown to a proxy. */
  readonly cert?: Pem | undefined;
  /** The private key of `cert`, in PEM. */
  readonly key?: Pem | undefined;
  /** What `key` is encrypted with. */
  readonly passphrase?: string | undefined;
  /**
   * Public keys one of which the server's chain has to have, beside a certificate that is valid: the SHA-256 of the subject public key
   * info in base64, as in RFC 7469 section 2.4, of the server itself or of an authority above it. Give the next one too before keys are
   * rotated. Another key is `http.connect`, and nothing is written; so is an `http:` endpoint, which has no key. A proxy is not pinned.
   */
  readonly spkiPins?: readonly string[] | undefined;
  /** The largest response head, in bytes (`limit.head_bytes`); HTTP/1.1 alone. Absent: 16,384. */
  readonly maxHeaderBytes?: number | undefined;
  /**
   * The most connections to one origin. What is over it waits, within `connectTimeoutMs` of the call; a stream has its connection to itself
   * while it lasts. Absent: 64.
   */
  readonly maxConnectionsPerOrigin?: number | undefined;
  /** The most connections to all origins together, idle ones included. A call that needs one more is `http.connect`. Absent: 1,024. */
  readonly maxConnections?: number | undefined;
  /**
   * How many requests may be under way on one HTTP/1.1 connection. 1: no pipelining (RFC 9112 section 9.3.2). 0: each request has a
   * connection of its own. More lets undici pipeline requests that are idempotent, which no A2A call is, to a server that is trusted not to
   * mix up its answers. Absent: 1.
   */
  readonly pipelining?: number | undefined;
  /** Until a connection is made, name and TLS included, in whole milliseconds, to about half a second (`http.connect`). Absent: 10,000. */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * How long an idle connection is kept where the server gives no hint, in whole milliseconds. Below what servers keep it (5 s in Node and
   * uvicorn), or a request may be written to a connection that is just being closed. Absent: 4,000.
   */
  readonly keepAliveTimeoutMs?: number | undefined;
  /** The most that a server's `keep-alive: timeout=…` can make of it, in whole milliseconds. Absent: 60,000. */
  readonly keepAliveMaxTimeoutMs?: number | undefined;
  /** What is taken off a server's `keep-alive: timeout=…` for the way there and back, in whole milliseconds. Absent: 2,000. */
  readonly keepAliveTimeoutThresholdMs?: number | undefined;
  /** Tries the addresses of a name in turn, both families (RFC 8305). Absent: true. */
  readonly autoSelectFamily?: boolean | undefined;
  /** Speaks HTTP/2 where the server does. SECURITY.md says what is bounded less well there. Absent: false. */
  readonly allowH2?: boolean | undefined;
  /**
   * An `http:` or `https:` proxy, user info and all, through which everything is tunnelled (CONNECT, RFC 9110 section 9.3.6), `http:`
   * endpoints too. It hides which address is connected to, so it goes with `network: 'any'` alone. `http:` endpoints on this
   * machine's names (`localhost`, 127.0.0.1) are tunnelled too, and the proxy reads what they carry, credentials included. Absent: none,
   * whatever the environment says.
   */
  readonly proxy?: string | URL | undefined;
}

/** The settings, checked; holds no object of the caller's but the functions. */
export interface AgentSettings {
  readonly network: NetworkPolicy;
  readonly lookup: LookupFunction;
  readonly minTlsVersion: '1.2' | '1.3';
  readonly ca: string[] | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly passphrase: string | undefined;
  readonly spkiPins: readonly string[] | undefined;
  readonly maxHeaderBytes: number;
  readonly maxConnectionsPerOrigin: number;
  readonly maxConnections: number;
  readonly pipelining: number;
  readonly connectTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly keepAliveMaxTimeoutMs: number;
  readonly keepAliveTimeoutThresholdMs: number;
  readonly autoSelectFamily: boolean;
  readonly allowH2: boolean;
  readonly proxy: string | undefined;
}

/** As text, and so a copy: what the caller does to its bytes later has no effect. An empty one would be none at all to Node. */
const pem = v.pipe(
  v.union([
    v.string(),
    v.pipe(
      v.instance(Uint8Array),
      v.transform((bytes) => Buffer.from(bytes).toString('latin1')),
    ),
  ]),
  v.minLength(1),
);
const authorities = v.pipe(
  v.union([v.pipe(pem, v.transform((text) => [text])), v.array(pem)]),
  v.check((texts) => texts.length > 0 && texts.every(isAllCertificates)),
);

/** 32 bytes in base64, RFC 4648 section 4, in the one spelling that a digest is written in. */
const PIN = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

const isFunction = (value: unknown): boolean => typeof value === 'function';

const TABLE: OptionTable<AgentSettings> = {
  network: [
    'options.dispatcher',
    v.optional(v.union([v.picklist(['public', 'loopback', 'any']), v.custom<Exclude<NetworkPolicy, string>>(isFunction)]), 'public'),
  ],
  lookup: ['options.dispatcher', v.optional(v.custom<LookupFunction>(isFunction), () => systemLookup)],
  minTlsVersion: ['options.dispatcher', v.optional(v.picklist(['1.2', '1.3']), '1.2')],
  ca: ['options.dispatcher', v.optional(authorities, none)],
  cert: ['options.dispatcher', v.optional(pem, none)],
  key: ['options.dispatcher', v.optional(pem, none)],
  passphrase: ['options.dispatcher', v.optional(v.string(), none)],
  spkiPins: ['options.dispatcher', v.optional(v.pipe(v.array(v.pipe(v.string(), v.regex(PIN))), v.minLength(1)), none)],
  maxHeaderBytes: ['options.limit', v.optional(limit, 16_384)],
  maxConnectionsPerOrigin: ['options.limit', v.optional(limit, 64)],
  maxConnections: ['options.limit', v.optional(limit, 1_024)],
  pipelining: ['options.limit', v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 1)],
  connectTimeoutMs: ['options.time', v.optional(time, 10_000)],
  keepAliveTimeoutMs: ['options.time', v.optional(time, 4_000)],
  keepAliveMaxTimeoutMs: ['options.time', v.optional(time, 60_000)],
  keepAliveTimeoutThresholdMs: ['options.time', v.optional(time, 2_000)],
  autoSelectFamily: ['options.dispatcher', v.optional(v.boolean(), true)],
  allowH2: ['options.dispatcher', v.optional(v.boolean(), false)],
  proxy: ['options.dispatcher', v.optional(v.pipe(v.unknown(), v.transform(proxyOf)), none)],
};

/** @throws {Refusal} `options.*`, with the name of the setting as its `path` */
export function checkAgentOptions(options: unknown): AgentSettings {
  // A checker remembers what it saw last: one that is kept would keep the key and its passphrase.
  return optionChecker(TABLE, checkTogether)(options);
}

function checkTogether({ cert, key, passphrase, proxy, network }: AgentSettings): void {
  if ((cert === undefined) !== (key === undefined)) throw wrong(cert === undefined ? 'cert' : 'key', 'cert and key go together');
  if (passphrase !== undefined && key === undefined) throw wrong('key', 'there is no key for the passphrase');
  if (proxy !== undefined && network !== 'any') throw wrong('proxy', "it hides what is connected to: it goes with network: 'any' alone");
}

function wrong(path: keyof AgentSettings, why: string): Refusal {
  return new Refusal('options.dispatcher', { path, reason: new TypeError(why) });
}

/** Certificates alone, and at least one: Node passes over what it cannot read, and would trust its own authorities for an empty text. */
function isAllCertificates(text: string): boolean {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0 || found.length !== text.split('-----BEGIN ').length - 1) return false;
  // Throws where it is none.
  return found.every((one) => new X509Certificate(one).raw.length > 0);
}

function proxyOf(value: unknown): string {
  const url = value instanceof URL ? value : URL.parse(v.parse(v.string(), value));
  if (url === null || !/^https?:$/.test(url.protocol)) throw new TypeError('the proxy is no http: or https: URL');
  // undici takes them apart later, and throws where they are no URI encoding.
  for (const part of [url.username, url.password]) decodeURIComponent(part);
  return url.href;
}
