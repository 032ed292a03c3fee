/** The clients that are compared, each as its callers use it: in its leanest form, with nothing of ours around it. */
import {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { JsonRpcTransportFactory, type Transport } from '@a2a-js/sdk/client';
import { LegacyJsonRpcTransport } from '@a2a-js/sdk/compat/v0_3/client';
import { Agent } from 'undici';
import { StrictClient, type CallOptions, type JsonValue, type StreamOptions } from '../../lib/index.js';
import type { Run } from '../conformance/corpus.js';

export interface PeerClient {
  readonly title: string;
  /** Its JSON-RPC ids are numbers. */
  readonly numericIds: boolean;
  /** Makes the call of a run; rejects where the client refuses the answer. A stream is read to its end. `undefined`: it has no such call. */
  call(run: Run, endpoint: string): Promise<unknown> | undefined;
}

interface ExtensionCalls {
  callExtensionMethod(method: string, params: unknown): Promise<unknown>;
}

/** No case names such an id by chance. */
const FIRST_ID = 7_302_915_648;

const sdk: PeerClient = {
  title: '@a2a-js/sdk',
  numericIds: true,
  call(run, endpoint) {
    const { operation } = run.case;
    if (operation === 'call') return run.dialect === '1.0' ? extensionCall(run, endpoint) : undefined;
    return transportOf(run, endpoint).then((transport) => callTransport(transport, run));
  },
};

async function transportOf({ dialect }: Run, endpoint: string): Promise<Transport> {
  const transport =
    dialect === '0.3'
      ? new LegacyJsonRpcTransport({ endpoint })
      : // A transport without the compatibility layer reads nothing of the card.
        await new JsonRpcTransportFactory().create(endpoint, AgentCard.fromJSON({}));
  Object.assign(transport, { requestIdCounter: FIRST_ID });
  return transport;
}

/** The transport of 1.0 has it, and its type does not say so. */
async function extensionCall(run: Run, endpoint: string): Promise<unknown> {
  const transport = (await transportOf(run, endpoint)) as unknown as ExtensionCalls;
  const { method, params } = run.params as { method: string; params?: unknown };
  return transport.callExtensionMethod(method, params);
}

function callTransport(transport: Transport, { case: { operation }, params }: Run): Promise<unknown> {
  switch (operation) {
    case 'sendMessage':
      return transport.sendMessage(SendMessageRequest.fromJSON(params));
    case 'sendStreamingMessage':
      return drain(transport.sendMessageStream(SendMessageRequest.fromJSON(params)));
    case 'subscribeToTask':
      return drain(transport.resubscribeTask(SubscribeToTaskRequest.fromJSON(params)));
    case 'getTask':
      return transport.getTask(GetTaskRequest.fromJSON(params));
    case 'listTasks':
      return transport.listTasks(ListTasksRequest.fromJSON(params));
    case 'cancelTask':
      return transport.cancelTask(CancelTaskRequest.fromJSON(params));
    case 'createTaskPushNotificationConfig':
      return transport.createTaskPushNotificationConfig(TaskPushNotificationConfig.fromJSON(params));
    case 'getTaskPushNotificationConfig':
      return transport.getTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest.fromJSON(params));
    case 'listTaskPushNotificationConfigs':
      return transport.listTaskPushNotificationConfig(ListTaskPushNotificationConfigsRequest.fromJSON(params));
    case 'deleteTaskPushNotificationConfig':
      return transport.deleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest.fromJSON(params));
    case 'getExtendedAgentCard':
      return transport.getExtendedAgentCard(GetExtendedAgentCardRequest.fromJSON(params));
    case 'call':
      throw new TypeError('A transport has no such operation');
  }
}

const strict: PeerClient = {
  title: 'a2a-strict',
  numericIds: false,
  call(run, endpoint) {
    const client = new StrictClient(shared());
    // The options of a case are as a caller of JavaScript would write them: the client checks them.
    const options = { endpoint, protocolVersion: run.dialect, ...run.options } as unknown as CallOptions & StreamOptions;
    const { operation } = run.case;
    switch (operation) {
      case 'sendMessage':
        return client.sendMessage(options, SendMessageRequest.fromJSON(run.params));
      case 'sendStreamingMessage':
        return drain(client.sendStreamingMessage(options, SendMessageRequest.fromJSON(run.params)));
      case 'subscribeToTask':
        return drain(client.subscribeToTask(options, run.params as never));
      case 'getExtendedAgentCard':
        return client.getExtendedAgentCard(options);
      case 'call': {
        const { method, params } = run.params as { method: string; params?: JsonValue };
        return client.call(options, method, params);
      }
      default:
        return client[operation](options, run.params as never);
    }
  },
};

let dispatcher: Agent | undefined;
const shared = (): Agent => (dispatcher ??= new Agent());

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

/** Behaves as the `params` of a run say: what the judgement is tested with. */
const standIn: PeerClient = {
  title: 'stand-in',
  numericIds: false,
  call({ params }, endpoint) {
    const { behaviour } = params as { behaviour?: string };
    const answer = fetch(endpoint, { method: 'POST', body: '{"id":"1"}' });
    switch (behaviour) {
      case 'refuses':
        return answer.then(() => Promise.reject(new Error('No')));
      case 'leaks':
        return answer.then((response) => response.text()).then((cause) => Promise.reject(new Error('No', { cause })));
      case 'hangs':
        return answer.then(() => new Promise(() => undefined));
      case 'crashes':
        return answer.then(() => {
          setImmediate(() => {
            throw new Error('Nobody catches this');
          });
          return new Promise(() => undefined);
        });
      case 'has no such call':
        answer.catch(() => undefined);
        return undefined;
      default:
        return answer;
    }
  },
};

export const PEERS = { sdk, strict, 'stand-in': standIn } as const;
export type PeerName = keyof typeof PEERS;
