/** Which agent a command talks to: the one below a base URL, or the one at an exact endpoint. */
import type { Agent } from 'undici';
import { RemoteAgent } from '../agent/index.js';
import type { ProtocolVersion } from '../dialect/dialect.js';
import { Failure, Refusal } from '../failure.js';
import type { CallInterceptor } from '../interceptor.js';
import { endpointOfAddress } from '../text/address.js';
import { ExactAgent, type CalledAgent } from './exact_agent.js';
import type { Given } from './given.js';
import { boundsOf, cardOf, dispatcherOf, eventIdsOf, httpOf, verificationOf } from './policy.js';
import { safeLine } from './sanitize.js';
import type { Session } from './session.js';
import { UsageError } from './usage_error.js';

/** Where the user points to. */
export type Target =
  | { readonly kind: 'base'; readonly url: string; readonly dialects: readonly ProtocolVersion[] | undefined }
  | { readonly kind: 'exact'; readonly url: string; readonly dialect: ProtocolVersion | 'probe'; readonly tenant: string | undefined };

/**
 * @throws {UsageError} options that do not go together
 * @throws {Failure} `text.address`
 */
export function targetOf(url: string, given: Given): Target {
  const isAddress = /^a2as?:/.test(url);
  const dialect = given.choice('dialect', ['1.0', '0.3', 'probe']);
  const tenant = given.text('tenant');
  if (given.flag('exact') === true || isAddress) {
    for (const name of ['card-path', 'allow-legacy-card-path', 'jwks', 'require-signature', 'allow-cross-origin-interfaces'] as const) {
      if (given.text(name) ?? given.flag(name)) throw new UsageError(`--${name} is for a base URL: at an exact endpoint no card is fetched`);
    }
    return { kind: 'exact', url: isAddress ? expanded(url) : url, dialect: dialect ?? '1.0', tenant };
  }
  if (dialect === 'probe') throw new UsageError('--dialect probe goes with --exact: of a base URL the card says it');
  if (tenant !== undefined) throw new UsageError('--tenant goes with --exact: of a base URL the card says it');
  return { kind: 'base', url, dialects: dialect === undefined ? undefined : [dialect] };
}

function expanded(address: string): string {
  try {
    return endpointOfAddress(address);
  } catch (error) {
    throw error instanceof Refusal ? new Failure(error.rule, { delivery: 'not_sent', cause: error.reason }) : error;
  }
}

/** Runs `act` with the agent that the command's first argument names, and closes its connections at the end. */
export async function withAgent<T>(session: Session, timeoutMs: number | undefined, act: (agent: CalledAgent) => Promise<T>): Promise<T> {
  const { given, io, words, output } = session;
  const target = targetOf(words[0] ?? '', given);
  const http = httpOf(given, io.env, timeoutMs);
  const bounds = boundsOf(given);
  const card = cardOf(given);
  const verify = verificationOf(given);
  const common = { ...http, eventIds: eventIdsOf(given), extensions: given.list('extension'), interceptors: [tell(output)] };
  return withDispatcher(session, (dispatcher) => {
    if (target.kind === 'exact') {
      const { url, dialect, tenant } = target;
      return act(new ExactAgent(dispatcher, { ...common, ...bounds, endpoint: url, tenant }, dialect));
    }
    const { maxCardBytes, ...place } = card;
    output.progress('fetching the card');
    return act(
      new RemoteAgent(target.url, {
        ...common,
        ...place,
        dispatcher,
        limits: { ...bounds, maxCardBytes },
        protocolVersions: target.dialects,
        allowCrossOriginInterfaces: given.flag('allow-cross-origin-interfaces'),
        verify,
      }),
    );
  });
}

/** Runs `act` with connections that are closed at the end, whatever the end. */
export async function withDispatcher<T>({ given, interruption }: Session, act: (dispatcher: Agent) => Promise<T>): Promise<T> {
  const dispatcher = dispatcherOf(given);
  try {
    return await act(dispatcher);
  } finally {
    await interruption.settled();
    await dispatcher.destroy();
  }
}

function tell(output: Session['output']): CallInterceptor {
  return {
    before: ({ method, endpoint }) => {
      output.progress(`${method} to ${shownUrl(endpoint)}`);
    },
  };
}

/** A URL without what may be secret in it. */
export function shownUrl(url: string): string {
  const [place = ''] = url.split('?', 1);
  return `${safeLine(place)}${place === url ? '' : '?…'}`;
}
