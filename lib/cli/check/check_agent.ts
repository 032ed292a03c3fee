/** The whole check of one agent: which probes there are, and in which order. */
import type { Agent } from 'undici';
import { BoundHeaders } from '../../agent/credentials.js';
import type { ProtocolVersion } from '../../dialect/dialect.js';
import { probeDialect, type CardOptions, type CardVerification } from '../../discovery/index.js';
import { Failure, Refusal } from '../../failure.js';
import type { StreamOptions } from '../../options.js';
import { endpointOf } from '../../policy/endpoint.js';
import type { GivenHeaders } from '../headers.js';
import type { Target } from '../target.js';
import { Connections } from './connections.js';
import { isTurnedAway, notExercised, type Finding } from './finding.js';
import { judgeLayers } from './layers.js';
import { CARD, INTERFACE, SIGNATURE, fetchCard, judgeInterface, judgeSignature } from './probes/card.js';
import { judgeTls, judgeTlsFailure, keepAlive } from './probes/connection.js';
import { askUnknownTask, judgeUnknownTask, malformedJson, unknownMethod, unknownStream, wrongVersion } from './probes/errors.js';
import { streams } from './probes/streams.js';
import { cancel, listTasks, sendAndGet } from './probes/tasks.js';
import { Subject } from './subject.js';

export interface CheckRequest {
  readonly target: Target;
  /** Bounds, clocks, headers: what every request takes. */
  readonly call: Omit<StreamOptions, 'endpoint' | 'protocolVersion'> & GivenHeaders;
  readonly card: Pick<CardOptions, 'maxCardBytes' | 'cardPath' | 'allowLegacyCardPath'>;
  readonly verification: CardVerification | undefined;
  readonly allowCrossOriginInterfaces: true | undefined;
  /** What messages say; absent: none may be sent. */
  readonly text: string | undefined;
  /** Of a call that sends one: an agent may have to think about it. */
  readonly messageTimeoutMs: number | undefined;
  readonly progress: (asked: string) => void;
}

/** What is found before anything is called. */
interface Found {
  readonly findings: readonly Finding[];
  /** Where calls go; `undefined` where that cannot be said. */
  readonly place: { readonly endpoint: string; readonly protocolVersion: ProtocolVersion; readonly tenant: string | undefined } | undefined;
  readonly hasStreaming: boolean | undefined;
}

/** @throws {Failure} there is no agent to be checked, or an option is wrong */
export async function checkAgent(dispatcher: Agent, request: CheckRequest): Promise<Finding[]> {
  const { target } = request;
  const connections = new Connections();
  connections.watch(target.url);
  try {
    const found = target.kind === 'exact' ? findExact(dispatcher, request, target) : findCard(dispatcher, request, target);
    const { findings, place, hasStreaming } = await found;
    if (place === undefined) return [...findings];
    connections.watch(place.endpoint);
    const headers = headersFor(place.endpoint, request);
    const { text, progress, call, messageTimeoutMs } = request;
    const subject = new Subject(dispatcher, { ...call, ...place, headers }, messageTimeoutMs, progress);
    return [...findings, ...(await callAgent(subject, { text, hasStreaming, eventIds: call.eventIds ?? 'required', connections }))];
  } catch (error) {
    const finding = error instanceof Failure ? judgeTlsFailure(error) : undefined;
    if (finding === undefined) throw error;
    return [finding];
  } finally {
    connections.close();
  }
}

async function findExact(dispatcher: Agent, { call }: CheckRequest, { url, dialect, tenant }: Target & { kind: 'exact' }): Promise<Found> {
  const { eventIds: _, ...options } = call;
  const protocolVersion = dialect === 'probe' ? await probeDialect(dispatcher, { ...options, endpoint: url, tenant }) : dialect;
  const findings = [CARD, SIGNATURE, INTERFACE].map((topic) => notExercised(topic, 'the endpoint was given, no card is fetched'));
  return { findings, place: { endpoint: url, protocolVersion, tenant }, hasStreaming: undefined };
}

async function findCard(dispatcher: Agent, request: CheckRequest, { url: baseUrl, dialects }: Target & { kind: 'base' }): Promise<Found> {
  const { call, card, verification, allowCrossOriginInterfaces, progress } = request;
  const { headers, secretHeaders, allowCleartextCredentials, signal, connectTimeoutMs, timeoutMs, idleTimeoutMs } = call;
  progress('the card');
  const options = { ...card, headers, secretHeaders, allowCleartextCredentials, signal, connectTimeoutMs, timeoutMs, idleTimeoutMs };
  const { finding, fetched } = await fetchCard(dispatcher, baseUrl, options);
  if (fetched === undefined) {
    const others = [SIGNATURE, INTERFACE].map((topic) => notExercised(topic, 'there is no card'));
    return { findings: [finding, ...others], place: undefined, hasStreaming: undefined };
  }
  const signature = await judgeSignature(fetched, verification);
  const { finding: offered, selected } = judgeInterface(fetched.card, { baseUrl, allowCrossOriginInterfaces, protocolVersions: dialects });
  // Of a card that somebody else may have written, no word is followed.
  const isForged = signature.state === 'broken';
  return {
    findings: [finding, signature, offered],
    place: isForged ? undefined : selected && { endpoint: selected.endpoint, protocolVersion: selected.protocolVersion, tenant: selected.tenant },
    hasStreaming: fetched.card.capabilities?.streaming === true,
  };
}

/** Credentials that were given for the base URL are for its origin. @throws {Failure} `agent.authorization` */
function headersFor(endpoint: string, { target, call }: CheckRequest): Readonly<Record<string, string>> {
  try {
    return new BoundHeaders(endpointOf(target.url).origin, call.headers, call.secretHeaders).forCall(endpointOf(endpoint).origin, undefined);
  } catch (error) {
    throw error instanceof Refusal ? new Failure(error.rule, { delivery: 'not_sent', cause: error.reason }) : error;
  }
}

const NO_CONTACT = new Set(['http.connect', 'deadline.connect']);

async function callAgent(subject: Subject, check: Parameters<typeof streams>[1]): Promise<Finding[]> {
  const { connections, text } = check;
  const first = await askUnknownTask(subject);
  const { failure } = first;
  if (failure !== undefined && (NO_CONTACT.has(failure.rule) || isTurnedAway(failure))) throw failure;
  // In the order in which they are sent: the connection is looked at before a stream may have closed it.
  const findings = [
    judgeUnknownTask(first),
    await unknownMethod(subject),
    await malformedJson(subject),
    await wrongVersion(subject),
    await listTasks(subject),
    await keepAlive(subject, connections),
    await unknownStream(subject, check.hasStreaming),
    ...(await sendAndGet(subject, text)),
    ...(await streams(subject, check)),
    await cancel(subject, text),
  ];
  return [judgeTls(subject.options.endpoint, connections), ...judgeLayers(subject.answers), ...findings];
}
