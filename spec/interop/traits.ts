/** What a server's bytes look like, told from the exchanges of a whole scenario. */
import type { Peer } from './peer.js';
import type { Exchange } from './wire_log.js';

export const TRAITS = [
  'eventIds',
  'event ids sent',
  'event names',
  'line ends',
  'comments',
  'stream media type',
  'result media type',
  'error media type',
  'error status',
  'error data',
  'errors to stream requests',
  'answer to a deletion',
  'timestamps',
] as const;
export type Trait = (typeof TRAITS)[number];
export type Traits = Readonly<Record<Trait, string>>;

export function traitsOf(peer: Pick<Peer, 'exchanges' | 'eventIds'>): Traits {
  const answered = peer.exchanges.filter(({ status }) => status !== undefined);
  const streams = answered.filter((exchange) => /^text\/event-stream/.test(mediaType(exchange)));
  const unary = answered.filter((exchange) => !streams.includes(exchange));
  const results = unary.filter((exchange) => memberOf(exchange, 'result'));
  const errors = unary.filter((exchange) => memberOf(exchange, 'error'));
  const lines = streams.flatMap((exchange) => text(exchange).split(/\r?\n/));
  const stamps = answered.flatMap((exchange) => [...text(exchange).matchAll(/"timestamp": ?"([^"]*)"/g)].map(([, stamp = '']) => stamp));
  return {
    eventIds: peer.eventIds,
    'event ids sent': kinds(lines.flatMap((line) => /^id: ?(.*)$/.exec(line)?.slice(1) ?? []).map(idKind)),
    'event names': kinds(lines.flatMap((line) => /^event: ?(.*)$/.exec(line)?.slice(1) ?? [])),
    'line ends': kinds(streams.flatMap((exchange) => text(exchange).match(/\r?\n/g) ?? []).map((end) => (end === '\n' ? 'LF' : 'CRLF'))),
    comments: kinds(lines.filter((line) => line.startsWith(':')).map((line) => line.replace(/\d{4}-\d\d-\d\d[ T][\d:.+]+Z?/, '<time>'))),
    'stream media type': kinds(streams.map(mediaType)),
    'result media type': kinds(results.map(mediaType)),
    'error media type': kinds(errors.map(mediaType)),
    'error status': kinds(errors.map(({ status }) => String(status))),
    'error data': kinds([...errors, ...streams].flatMap(dataKinds)),
    'errors to stream requests': kinds(answered.filter(({ method }) => STREAMING.test(method)).flatMap(errorForms)),
    'answer to a deletion': kinds(answered.filter(({ method }) => /delete/i.test(method)).map(deletionAnswer)),
    timestamps: stampKind(stamps),
  };
}

function text({ chunks }: Exchange): string {
  return Buffer.concat(chunks).toString();
}

function mediaType({ headers }: Exchange): string {
  const value = headers['content-type'];
  return typeof value === 'string' ? value : '(none)';
}

/** Whether a body that is no stream is an answer with this member. */
function memberOf(exchange: Exchange, member: 'result' | 'error'): boolean {
  try {
    const answer: unknown = JSON.parse(text(exchange));
    return typeof answer === 'object' && answer !== null && member in answer;
  } catch {
    return false;
  }
}

const STREAMING = /^(?:SendStreamingMessage|SubscribeToTask|message\/stream|tasks\/resubscribe)$/;

/** How the errors in what was answered to a stream request are wrapped. */
function errorForms(exchange: Exchange): string[] {
  if (memberOf(exchange, 'error')) return ['JSON'];
  return text(exchange)
    .split(/\r?\n\r?\n/)
    .filter((event) => /^data: \{.*"error": ?\{/m.test(event))
    .map((event) => (/^event: error$/m.test(event) ? 'event named error' : 'plain event'));
}

/** What the errors in a body, or in the events of a stream, have as `data`. */
function dataKinds(exchange: Exchange): string[] {
  return text(exchange)
    .split(/\r?\n/)
    .map((line) => /^(?:data: )?(\{.*"error": ?\{.*\})$/.exec(line)?.[1])
    .filter((json) => json !== undefined)
    .map((json) => {
      const { error } = JSON.parse(json) as { readonly error?: { readonly data?: unknown } };
      if (error === undefined || error.data === undefined) return 'none';
      if (JSON.stringify(error.data).includes('google.rpc.ErrorInfo')) return 'google.rpc.ErrorInfo';
      if (error.data === null) return 'null';
      return Array.isArray(error.data) ? 'a list' : typeof error.data === 'object' ? 'an object' : `a ${typeof error.data}`;
    });
}

function deletionAnswer(exchange: Exchange): string {
  if (text(exchange) === '') return 'an empty body';
  if (memberOf(exchange, 'error')) return 'an error';
  return memberOf(exchange, 'result') ? 'a result' : 'neither result nor error';
}

function idKind(id: string): string {
  if (/^\d+$/.test(id)) return 'numbers';
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? 'UUIDs' : 'other';
}

/** The finest unit of any, since some leave out zeros at the end, and the offsets. */
function stampKind(stamps: readonly string[]): string {
  const parts = stamps.map((stamp) => /^[\d-]+T[\d:]+(?:\.(\d+))?(.*)$/.exec(stamp) ?? []);
  const digits = Math.max(0, ...parts.map(([, fraction = '']) => fraction.length));
  const unit = digits > 6 ? 'ns' : digits > 3 ? 'µs' : digits > 0 ? 'ms' : 's';
  return `${unit}, ${kinds(parts.map(([, , offset = '']) => (offset === '' ? 'no offset' : offset)))}`;
}

/** The different values, in order, or a dash for none. */
function kinds(values: readonly string[]): string {
  const different = [...new Set(values)].sort();
  return different.length === 0 ? '–' : different.join('; ');
}
