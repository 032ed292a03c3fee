/** Where a remote agent's calls go, and with what: its card, the interface that was selected, and the settings of the moment. */
import type { AgentCard } from '@a2a-js/sdk';
import { AgentCardCache, selectInterface, type FetchedCard, type SelectedInterface } from '../discovery/index.js';
import { Failure } from '../failure.js';
import type { CallInterceptor } from '../interceptor.js';
import type { CallOptions, StreamOptions } from '../options.js';
import { endpointOf, type Endpoint } from '../policy/endpoint.js';
import { BoundHeaders, type Authorization } from './credentials.js';
import { refusing } from './given.js';
import { checkAgentOptions, type AgentPolicy, type RemoteAgentOptions } from './options.js';

/** What may change between calls. A call takes it as it is at its start. */
export interface Settings {
  readonly authorization: Authorization | undefined;
  readonly allowCrossOriginInterfaces: true | undefined;
  readonly timeoutMs: number | undefined;
  readonly connectTimeoutMs: number | undefined;
}

/** One call: what it may use, from when it began. */
export interface Attempt extends Settings {
  readonly signal: AbortSignal | undefined;
  readonly startedAt: number;
}

/** Where a call goes. */
interface Target {
  readonly card: AgentCard;
  readonly selected: SelectedInterface;
}

/** A card that came without a word of how long it is fresh is asked about again after so long, in milliseconds. */
const KEEP_MS = 5 * 60 * 1000;

export class Connection {
  readonly base: Endpoint;
  readonly policy: AgentPolicy;
  readonly #baseUrl: string;
  readonly #cache: AgentCardCache;
  readonly #headers: BoundHeaders;
  #settings: Settings;
  /** What was selected last, and from what. */
  #selection: (Target & Pick<Settings, 'allowCrossOriginInterfaces'>) | undefined;
  #fetches = 0;
  #kept: { readonly order: number; readonly fetched: FetchedCard; readonly authorization: Authorization | undefined; readonly until: number } | undefined;

  /** @throws {Refusal} `options.*` */
  constructor(baseUrl: string | URL, options: RemoteAgentOptions) {
    this.base = endpointOf(baseUrl);
    this.#baseUrl = this.base.origin + this.base.target;
    const { headers, ...policy } = checkAgentOptions(options);
    const { authorization = '', ...others } = headers;
    this.policy = { ...policy, headers: others };
    this.#cache = policy.cache ?? new AgentCardCache();
    this.#headers = new BoundHeaders(this.base.origin, others, policy.secretHeaders);
    this.#settings = {
      authorization: authorization === '' ? undefined : { value: authorization, origin: this.base.origin },
      allowCrossOriginInterfaces: policy.allowCrossOriginInterfaces,
      timeoutMs: policy.timeoutMs,
      connectTimeoutMs: policy.connectTimeoutMs,
    };
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** From the next call on. */
  set(change: Partial<Settings>): void {
    this.#settings = { ...this.#settings, ...change };
  }

  begin(signal: AbortSignal | undefined, startedAt = performance.now()): Attempt {
    return { ...this.#settings, signal, startedAt };
  }

  /** @param stopped the consumer has left before the stream began */
  async streamOptions(
    signal: AbortSignal | undefined,
    stopped: AbortSignal,
    activated: string[],
    startedAt?: number,
  ): Promise<StreamOptions> {
    const { maxEventBytes, maxStreamBytes, maxStreamEvents } = this.policy.limits;
    const either = signal === undefined ? stopped : AbortSignal.any([signal, stopped]);
    const options = await this.options(this.begin(either, startedAt), activated);
    return { ...options, signal, maxEventBytes, maxStreamBytes, maxStreamEvents, eventIds: this.policy.eventIds };
  }

  async options(attempt: Attempt, activated: string[]): Promise<CallOptions> {
    const { card, selected } = await this.target(attempt).catch((error: unknown) => {
      // What became of the card's request: the call itself has not been sent.
      throw error instanceof Failure ? unsent(error) : error;
    });
    const { endpoint, protocolVersion, tenant } = selected;
    const { limits, interceptors, idleTimeoutMs, secretHeaders, allowCleartextCredentials, allowPlainTextResults } = this.policy;
    const extensions = this.#extensionsFor(card);
    const headers = refusing(() => this.#headers.forCall(new URL(endpoint).origin, attempt.authorization));
    return {
      endpoint,
      protocolVersion,
      maxResponseBytes: limits.maxResponseBytes,
      maxRequestBytes: limits.maxRequestBytes,
      headers,
      extensions,
      ...(tenant !== '' && { tenant }),
      ...(protocolVersion === '0.3' && { allowPlainTextResults }),
      interceptors: extensions.length === 0 ? interceptors : [watchExtensions(extensions, activated), ...interceptors],
      signal: attempt.signal,
      connectTimeoutMs: attempt.connectTimeoutMs,
      timeoutMs: timeLeft(attempt),
      idleTimeoutMs,
      secretHeaders,
      allowCleartextCredentials,
    };
  }

  #extensionsFor({ capabilities }: AgentCard): readonly string[] {
    const { extensions, forceExtensions } = this.policy;
    if (forceExtensions === true) return extensions;
    const listed = new Set(capabilities?.extensions.map(({ uri }) => uri));
    return extensions.filter((uri) => listed.has(uri));
  }

  async target(attempt: Attempt): Promise<Target> {
    const { card } = await this.card(attempt, false);
    const { protocolVersions } = this.policy;
    const { allowCrossOriginInterfaces } = attempt;
    // Of the same card the same is selected: a card may list thousands of interfaces.
    if (this.#selection?.card !== card || this.#selection.allowCrossOriginInterfaces !== allowCrossOriginInterfaces) {
      const selected = selectInterface(card, { baseUrl: this.#baseUrl, allowCrossOriginInterfaces, protocolVersions });
      this.#selection = { card, allowCrossOriginInterfaces, selected };
    }
    return this.#selection;
  }

  async card(attempt: Attempt, force: boolean): Promise<FetchedCard> {
    const { authorization } = attempt;
    // Keys are asked each time that a card is used: a key may be withdrawn.
    if (!force && this.policy.verify === undefined && this.#kept !== undefined && this.#kept.authorization === authorization && Date.now() < this.#kept.until) {
      return this.#kept.fetched;
    }
    const { dispatcher, limits, cardPath, allowLegacyCardPath, verify, idleTimeoutMs, secretHeaders, allowCleartextCredentials } = this.policy;
    const order = ++this.#fetches;
    const asked = this.#cache.get(dispatcher, this.#baseUrl, {
      maxCardBytes: limits.maxCardBytes,
      cardPath,
      allowLegacyCardPath,
      verify,
      headers: this.#headers.forCard(this.base.origin, authorization),
      signal: attempt.signal,
      connectTimeoutMs: attempt.connectTimeoutMs,
      timeoutMs: timeLeft(attempt),
      idleTimeoutMs,
      secretHeaders,
      allowCleartextCredentials,
      force: force ? true : undefined,
    });
    let fetched: FetchedCard;
    try {
      fetched = await asked;
    } catch (error) {
      // The agent has no good card any more.
      if (error instanceof Failure && error.kind === 'protocol') this.#kept = undefined;
      throw error;
    }
    // One that was asked for earlier, and came later, says nothing newer.
    if (order > (this.#kept?.order ?? 0)) this.#kept = { order, fetched, authorization, until: fetched.freshUntil ?? Date.now() + KEEP_MS };
    return fetched;
  }
}

function unsent(failure: Failure): Failure {
  const { rule, status, code, path, retryAfterMs } = failure;
  return new Failure(rule, { delivery: 'not_sent', status, code, path, retryAfterMs, cause: failure.unwrap() });
}

/** What is left of a call's time. @throws {Failure} `deadline.total` */
export function timeLeft({ timeoutMs, startedAt }: Attempt): number | undefined {
  if (timeoutMs === undefined) return undefined;
  const left = Math.ceil(timeoutMs - (performance.now() - startedAt));
  if (left < 1) throw new Failure('deadline.total', { delivery: 'not_sent' });
  return left;
}

/** What the agent says it has activated, of what it was asked for: nothing else of its words is handed on. */
function watchExtensions(asked: readonly string[], activated: string[]): CallInterceptor {
  return {
    after: ({ headers }) => {
      const said = [headers?.['a2a-extensions'], headers?.['x-a2a-extensions']].flat();
      const uris = new Set(said.flatMap((value) => value?.split(',') ?? []).map((uri) => uri.trim()));
      activated.splice(0, activated.length, ...asked.filter((uri) => uris.has(uri)));
    },
  };
}
