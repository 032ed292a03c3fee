/**
 * A run over a socket: the client as its callers use it, against the raw agent.
 */
import { SendMessageRequest } from '@a2a-js/sdk';
import { isDeepStrictEqual } from 'node:util';
import type { Agent } from 'undici';
import { Failure, StrictClient, type CallOptions, type EventStream, type JsonValue, type StreamOptions } from '../../lib/index.js';
import type { Play, SeenRequest } from './agent.js';
import type { Run } from './corpus.js';
import type { Item, Observed } from './verdict.js';

export async function callOverSocket(agent: Agent, run: Run, endpoint: string): Promise<Observed> {
  const items: Item[] = [];
  try {
    await collect(new StrictClient(agent), run, endpoint, items);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { kind, rule, path, code, delivery, status, retryAfterMs } = error;
    return { items, failure: { kind, rule, path, code, exchange: { delivery, status, retryAfterMs } } };
  }
  return { items };
}

async function collect(client: StrictClient, run: Run, endpoint: string, items: Item[]): Promise<void> {
  if (run.isStream) {
    for await (const { event, raw, id } of openStream(client, run, endpoint)) items.push({ value: event, raw, id });
    return;
  }
  const { result, raw } = await callUnary(client, run, endpoint);
  items.push({ value: result, raw });
}

function openStream(client: StrictClient, run: Run, endpoint: string): EventStream {
  // The options of a case are as a caller of JavaScript would write them: the client checks them.
  const options = { endpoint, protocolVersion: run.dialect, ...run.options } as unknown as StreamOptions;
  return run.case.operation === 'sendStreamingMessage'
    ? client.sendStreamingMessage(options, SendMessageRequest.fromJSON(run.params))
    : client.subscribeToTask(options, run.params as { id: string });
}

function callUnary(client: StrictClient, run: Run, endpoint: string): Promise<{ result: unknown; raw: Uint8Array }> {
  const options = { endpoint, protocolVersion: run.dialect, ...run.options } as unknown as CallOptions;
  const { operation } = run.case;
  switch (operation) {
    case 'sendMessage':
      return client.sendMessage(options, SendMessageRequest.fromJSON(run.params));
    case 'call': {
      const { method, params } = run.params as { method: string; params?: JsonValue };
      return client.call(options, method, params);
    }
    case 'getExtendedAgentCard':
      return client.getExtendedAgentCard(options);
    case 'sendStreamingMessage':
    case 'subscribeToTask':
      throw new TypeError('A stream is no unary call');
    default:
      return client[operation](options, run.params as never);
  }
}

/** How what was sent differs from what the case says is sent. Whatever a case says: one request, and never two. */
export function requestDifferences({ case: { request } }: Run, { requests }: Play): string[] {
  const [first] = requests;
  if (first === undefined || requests.length !== 1) return [`expected one request, got ${requests.length}`];
  const { method, headers, params } = request ?? {};
  const differ = [...envelopeDifferences(first)];
  if (method !== undefined && first.body['method'] !== method) differ.push(`method: expected ${method}, got ${String(first.body['method'])}`);
  if (params !== undefined && !isDeepStrictEqual(first.body['params'], params)) {
    differ.push(`params: expected ${JSON.stringify(params)}, got ${JSON.stringify(first.body['params'])}`);
  }
  for (const [name, value] of Object.entries(headers ?? {})) {
    const sent = first.headers.get(name);
    if (withoutSpaces(sent) !== withoutSpaces(value ?? undefined)) differ.push(`header ${name}: expected ${value ?? 'none'}, got ${sent ?? 'none'}`);
  }
  return differ;
}

function envelopeDifferences({ line, body }: SeenRequest): string[] {
  const { jsonrpc, id, method, params: _, ...others } = body;
  const holds = line.startsWith('POST ') && jsonrpc === '2.0' && typeof id === 'string' && typeof method === 'string';
  return holds && Object.keys(others).length === 0 ? [] : [`no JSON-RPC request: ${line} ${JSON.stringify(body)}`];
}

/** White space behind the commas of a header means nothing. */
function withoutSpaces(value: string | undefined): string | undefined {
  return value?.replaceAll(', ', ',');
}
