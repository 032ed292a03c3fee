/** The connection: TLS, and whether it serves more than one request. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failure } from '../../../failure.js';
import { endpointOf } from '../../../policy/endpoint.js';
import { codeOf } from '../../failure_report.js';
import { safeLine } from '../../sanitize.js';
import type { Connections } from '../connections.js';
import { broken, kept, notExercised, type Finding } from '../finding.js';
import type { Subject } from '../subject.js';

const TLS = { check: 'tls', title: 'TLS' };
const KEEP_ALIVE = { check: 'http.keep_alive', title: 'keep-alive' };

/** What OpenSSL and Node call what is wrong with the agent's TLS or its certificate. */
const TLS_ERRORS = /^(ERR_SSL_|ERR_TLS_|EPROTO$|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH$|INVALID_)/;

/** Where there is no connection for a reason that is TLS's: what is wrong. */
export function judgeTlsFailure(failure: Failure): Finding | undefined {
  const code = failure.rule === 'http.connect' ? codeOf(failure.unwrap()) : undefined;
  if (code === undefined || !TLS_ERRORS.test(code)) return undefined;
  return broken(
    TLS,
    `no connection: ${code}`,
    'offer TLS 1.2 or later, and a certificate for this name that callers can verify (or give them its authority: --ca)',
    'http.connect',
  );
}

export function judgeTls(endpoint: string, connections: Connections): Finding {
  if (endpoint.startsWith('http:')) {
    if (!endpointOf(endpoint).isCleartext) return notExercised(TLS, 'http: on this machine');
    return broken(TLS, 'http: to another machine can be read and changed on the way', 'serve the agent over https:');
  }
  const tls = connections.to(endpoint)[0]?.tls;
  if (tls === undefined) return notExercised(TLS, 'no connection was seen');
  return kept(TLS, safeLine(`${tls.version}, ${tls.cipher}, certificate valid until ${tls.validTo}`));
}

/** Long enough to tell an agent that keeps idle connections. */
const IDLE_MS = 1_000;

export async function keepAlive(subject: Subject, connections: Connections): Promise<Finding> {
  if (subject.saidClose) return kept(KEEP_ALIVE, 'connections are closed after each answer, and the agent says so');
  const idle = connections.to(subject.options.endpoint).filter(({ closedBy }) => closedBy === undefined);
  await sleep(IDLE_MS, undefined, { signal: subject.options.signal });
  if (idle.some(({ closedBy }) => closedBy === 'agent')) {
    return broken(
      KEEP_ALIVE,
      'an idle connection was closed within a second, without a word of it in the answer',
      'keep idle connections for some seconds, or say connection: close: a request that crosses the close is lost (http.connection_lost)',
    );
  }
  if (idle.length === 0) return notExercised(KEEP_ALIVE, 'no connection was left open');
  return kept(KEEP_ALIVE, 'idle connections are kept for a second at least');
}
