/** The dispatchers that a call may be given, each in the configurations that could make it repeat, redirect or rewrite. */
import { Agent, EnvHttpProxyAgent, MockAgent, ProxyAgent, RetryAgent, SnapshotAgent, interceptors, type Dispatcher, type RetryHandler } from 'undici';

export interface Subject {
  readonly name: string;
  /** @param base options of the agent that makes the connections */
  readonly make: (base: Agent.Options, proxy: string) => Dispatcher;
  /** The host in the endpoint, where the subject makes something of it. */
  readonly host?: string;
  /** It makes its connections itself, whatever `base.connect` says. */
  readonly connectsItself?: true;
  /** It lets no body through at all. */
  readonly withholdsBodies?: true;
  /** It makes an error of its own of every error status: the body is gone. */
  readonly hidesErrorBodies?: true;
  /** It takes an answer without its body for one to be repeated. */
  readonly missesBodies?: true;
}

/** As eager to repeat as can be. */
export const EAGER: RetryHandler.RetryOptions = {
  methods: ['GET', 'POST'],
  maxRetries: 5,
  minTimeout: 1,
  maxTimeout: 2,
  timeoutFactor: 1,
  retryAfter: false,
  statusCodes: [300, 301, 302, 303, 307, 308, 429, 500, 502, 503, 504],
};

/** Repeats whatever happens. */
const insist: RetryHandler.RetryCallback = (_error, _context, callback) => {
  callback(null);
};

/** Every name is this machine, at two addresses. */
const here: NonNullable<NonNullable<Parameters<typeof interceptors.dns>[0]>['lookup']> = (_origin, _options, callback) => {
  callback(null, [
    { address: '127.0.0.1', family: 4, ttl: 1000 },
    { address: '::1', family: 6, ttl: 1000 },
  ]);
};

const { redirect, retry, decompress, cache, dns, deduplicate, responseError, dump } = interceptors;
const redirecting = redirect({ maxRedirections: 5 });
const following = (...others: Dispatcher.DispatcherComposeInterceptor[]) => (base: Agent.Options) => new Agent(base).compose(...others);

export const SUBJECTS: readonly Subject[] = [
  { name: 'an Agent', make: (base) => new Agent(base) },
  { name: 'an Agent that pipelines', make: (base) => new Agent({ ...base, pipelining: 10, connections: 1 }) },
  {
    name: 'a ProxyAgent that tunnels',
    make: (base, proxy) => new ProxyAgent({ ...base, uri: proxy, proxyTunnel: true }),
    connectsItself: true,
  },
  { name: 'a ProxyAgent that forwards', make: (base, proxy) => new ProxyAgent({ ...base, uri: proxy }), connectsItself: true },
  {
    name: 'an EnvHttpProxyAgent',
    make: (base, proxy) => new EnvHttpProxyAgent({ ...base, httpProxy: proxy, httpsProxy: proxy, noProxy: '' }),
    connectsItself: true,
  },
  { name: 'a RetryAgent', make: (base) => new RetryAgent(new Agent(base)) },
  { name: 'a RetryAgent that is told to repeat POST', make: (base) => new RetryAgent(new Agent(base), EAGER) },
  {
    name: 'a RetryAgent with a retry function of its own',
    make: (base) => new RetryAgent(new Agent(base), { ...EAGER, retry: insist }),
  },
  {
    name: 'a RetryAgent that does not throw on an error status',
    make: (base) => new RetryAgent(new Agent(base), { ...EAGER, retry: insist, throwOnError: false }),
  },
  { name: 'a RetryAgent over a RetryAgent', make: (base) => new RetryAgent(new RetryAgent(new Agent(base), EAGER), EAGER) },
  {
    name: 'a RetryAgent over an Agent that redirects',
    make: (base) => new RetryAgent(new Agent(base).compose(redirecting), EAGER),
  },
  { name: 'a MockAgent that lets calls through', make: (base) => new MockAgent(base) },
  { name: 'a SnapshotAgent that records', make: (base) => new SnapshotAgent({ ...base, mode: 'record' }) },
  { name: 'an Agent that redirects', make: following(redirecting) },
  { name: 'an Agent that redirects and throws at too many', make: following(redirect({ maxRedirections: 1, throwOnMaxRedirect: true })) },
  { name: 'an Agent that retries', make: following(retry(EAGER)) },
  { name: 'an Agent that retries with a function of its own', make: following(retry({ ...EAGER, retry: insist })) },
  { name: 'an Agent that decompresses', make: following(decompress()) },
  { name: 'an Agent that decompresses error answers too', make: following(decompress({ skipErrorResponses: false, skipStatusCodes: [] })) },
  { name: 'an Agent that caches', make: following(cache()) },
  { name: 'an Agent that resolves names', make: following(dns({ lookup: here })), host: 'agent.test' },
  { name: 'an Agent that deduplicates', make: following(deduplicate()) },
  { name: 'an Agent that makes errors of error answers', make: following(responseError()), hidesErrorBodies: true },
  { name: 'an Agent that dumps', make: following(dump()), withholdsBodies: true },
  {
    name: 'an Agent with all interceptors that let bodies through',
    make: following(dns({ lookup: here }), decompress(), redirecting, cache(), deduplicate(), responseError(), retry(EAGER)),
    host: 'agent.test',
    hidesErrorBodies: true,
  },
  {
    name: 'an Agent that retries redirects of a retry',
    make: following(retry(EAGER), redirecting, retry({ ...EAGER, retry: insist }), decompress()),
  },
  {
    name: 'an Agent that dumps inside the resolution of names',
    make: following(dump(), dns({ lookup: here })),
    host: 'agent.test',
    withholdsBodies: true,
  },
  {
    name: 'an Agent that dumps inside retries and redirects',
    make: following(dump(), redirecting, retry(EAGER), decompress()),
    withholdsBodies: true,
    missesBodies: true,
  },
];
