/** An undici agent with safe settings, for callers that would else write their own network policy. */
import { createSecureContext, type SecureContext } from 'node:tls';
import { Agent, Pool, ProxyAgent, buildConnector, type Dispatcher, type errors } from 'undici';
import { Failure, Refusal } from '../failure.js';
import { ConnectionLimit, guardedConnector, judgedLookup, quietConnector } from './connector.js';
import { checkAgentOptions, type AgentSettings, type HardenedAgentOptions } from './options.js';
import { pinnedIdentity } from './pins.js';

/**
 * An undici `Agent` that connects to public addresses alone, over TLS 1.2 or later where it is `https:`, with certificates that are always
 * checked, and with bounds on its connections: see {@link HardenedAgentOptions}. With a proxy it is undici's `ProxyAgent`. Of the
 * environment, nothing but Node's own trust store has a say in it. The caller shares and closes it.
 * @throws {Failure} `options.*`, kind `invalid_argument`: an option that is unknown or wrong
 */
export function hardenedAgent(options?: HardenedAgentOptions & { readonly proxy?: undefined }): Agent;
export function hardenedAgent(options: HardenedAgentOptions): Agent | ProxyAgent;
export function hardenedAgent(options: HardenedAgentOptions = {}): Agent | ProxyAgent {
  try {
    return agentOf(checkAgentOptions(options));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { rule, path, reason } = error;
    throw new Failure(rule, { delivery: 'not_sent', path, cause: reason });
  }
}

function agentOf(settings: AgentSettings): Agent | ProxyAgent {
  const { network, lookup, spkiPins, proxy, maxConnectionsPerOrigin, connectTimeoutMs } = settings;
  const common = {
    connections: maxConnectionsPerOrigin,
    pipelining: settings.pipelining,
    maxHeaderSize: settings.maxHeaderBytes,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    keepAliveMaxTimeout: settings.keepAliveMaxTimeoutMs,
    keepAliveTimeoutThreshold: settings.keepAliveTimeoutThresholdMs,
    allowH2: settings.allowH2,
    // Or an environment variable of undici's would choose the parser.
    useMilo: false,
    factory: (origin: string | URL, given: { connect?: buildConnector.connector }): Pool => {
      if (spkiPins !== undefined && new URL(origin).protocol !== 'https:') throw new TypeError('spkiPins: without TLS there is no key');
      return forgettable(new Pool(origin, { ...given, ...(given.connect !== undefined && { connect: quietConnector(given.connect) }) }));
    },
  };
  const tls = {
    ...transportOf(settings),
    secureContext: secureContextOf(settings),
    ...(spkiPins !== undefined && { checkServerIdentity: pinnedIdentity(spkiPins) }),
  };
  const limit = new ConnectionLimit(settings.maxConnections);
  if (proxy === undefined) {
    const connect = guardedConnector(network, lookup, (judged) => limit.around(buildConnector({ ...tls, lookup: judged })));
    return new Agent({ ...common, connect });
  }
  return new ProxyAgent({
    ...common,
    uri: proxy,
    proxyTunnel: true,
    requestTls: tls,
    proxyTls: {
      ...transportOf(settings),
      lookup: judgedLookup(lookup, () => undefined),
      allowH2: false,
      secureContext: secureContextOf({ ...settings, cert: undefined, key: undefined }),
    },
    clientFactory: (origin, { connect }: { connect?: buildConnector.connector }) =>
      new Pool(origin, {
        ...(connect !== undefined && { connect: limit.around(connect) }),
        // A proxy that takes the connection and never opens the tunnel is one that does not connect.
        headersTimeout: connectTimeoutMs,
        maxHeaderSize: settings.maxHeaderBytes,
        useMilo: false,
      }),
  });
}

/**
 * undici's `Agent` forgets an origin whose connections are gone, but not one whose pool had been full: it takes the pool for busy for ever. An
 * agent that names one origin after another could fill the memory. What a pool that nobody uses says of itself is put right, and said again.
 */
function forgettable(pool: Pool): Pool {
  const full = Object.getOwnPropertySymbols(pool).find(({ description }) => description === 'needDrain');
  let isTidying = false;
  const tidy = (origin: URL, targets: readonly Dispatcher[], error: errors.UndiciError): void => {
    if (full === undefined || isTidying) return;
    setImmediate(() => {
      const { connected, size } = pool.stats;
      // One that is closed has been forgotten.
      if (pool.closed || connected + size > 0) return;
      isTidying = true;
      Reflect.set(pool, full, false);
      pool.emit('disconnect', origin, targets, error);
      isTidying = false;
    });
  };
  return pool.on('disconnect', tidy).on('connectionError', tidy);
}

/** What every connection is made with. */
function transportOf({ connectTimeoutMs, autoSelectFamily, allowH2 }: AgentSettings) {
  return {
    timeout: connectTimeoutMs,
    autoSelectFamily,
    allowH2,
    // Said outright: NODE_TLS_REJECT_UNAUTHORIZED changes only what is not.
    rejectUnauthorized: true,
    // A session that is taken up again is not checked again: neither its certificate nor its pins.
    maxCachedSessions: 0,
  };
}

function secureContextOf({ minTlsVersion, ca, cert, key, passphrase }: AgentSettings): SecureContext {
  try {
    return createSecureContext({ minVersion: `TLSv${minTlsVersion}`, ca, cert, key, passphrase });
  } catch (error) {
    // The authorities have been read already.
    throw new Refusal('options.dispatcher', { path: 'cert', reason: error });
  }
}
