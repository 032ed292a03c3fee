/**
 * What the compiler promises a caller. The assertions are types: this file failing to compile (`npm run typecheck`) is the failing test, and
 * each `@ts-expect-error` fails where the error it expects is not there. What runs proves that the values are what the types say.
 */
import type * as sdk from '@a2a-js/sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Agent } from 'undici';
import {
  FAILURE_RULES,
  Failure,
  PROTOCOL_VERSIONS,
  RemoteError,
  Role,
  StrictClient,
  TaskState,
  failureOf,
  userText,
  type CallInterceptor,
  type CallOptions,
  type CancelTaskInput,
  type CreatePushNotificationConfigInput,
  type Delivery,
  type EventIdMode,
  type EventStream,
  type FailureKind,
  type FailureRule,
  type FinishedCall,
  type GetPushNotificationConfigInput,
  type GetTaskInput,
  type JsonValue,
  type ListPushNotificationConfigsInput,
  type ListTasksInput,
  type MessageInput,
  type OperationName,
  type OutgoingCall,
  type ProtocolVersion,
  type Reply,
  type SendMessageInput,
  type SendMessageResult,
  type StreamEvent,
  type StreamItem,
  type StreamOptions,
  type SubscribeToTaskInput,
} from '../lib/index.js';

/** True where every `A` is a `B`; never of `any`, which would be everything. */
type Fits<A, B> = 0 extends 1 & A ? false : [A] extends [B] ? true : false;
/** True where both are the same. */
type Same<A, B> = Fits<A, B> extends true ? Fits<B, A> : false;
function holds<Claim extends true>(claim: Claim): Claim {
  return claim;
}

/** Never called: what is in it is only compiled. */
function compiled(_: () => unknown): void {
  // Nothing to run.
}

type Result<Name extends Exclude<keyof StrictClient, 'sendStreamingMessage' | 'subscribeToTask'>> =
  Awaited<ReturnType<StrictClient[Name]>> extends Reply<infer T> ? T : never;

function isOurFault(kind: FailureKind): boolean {
  switch (kind) {
    case 'invalid_argument':
      return true;
    case 'protocol':
    case 'remote_agent':
    case 'unavailable':
    case 'deadline_exceeded':
    case 'canceled':
    case 'response_too_large':
      return false;
  }
}

/** No default, no return behind the switch: a rule more or less in the union does not compile. */
function layerOf(rule: FailureRule): string {
  switch (rule) {
    case 'options.unknown':
    case 'options.endpoint':
    case 'options.dialect':
    case 'options.limit':
    case 'options.headers':
    case 'options.interceptors':
    case 'options.signal':
    case 'options.time':
    case 'options.operation':
    case 'options.dispatcher':
    case 'options.cleartext_credentials':
      return 'options';
    case 'request.params':
    case 'request.bytes':
      return 'request';
    case 'interceptor.before':
    case 'interceptor.after':
      return 'interceptor';
    case 'deadline.signal':
    case 'deadline.connect':
    case 'deadline.total':
    case 'deadline.idle':
      return 'deadline';
    case 'canceled.signal':
      return 'canceled';
    case 'http.connect':
    case 'http.connection_lost':
    case 'http.malformed':
    case 'http.redirect':
    case 'http.status':
    case 'http.content_type':
    case 'http.content_encoding':
    case 'http.truncated':
      return 'http';
    case 'limit.head_bytes':
    case 'limit.response_bytes':
    case 'limit.event_bytes':
    case 'limit.stream_bytes':
    case 'limit.stream_events':
      return 'limit';
    case 'sse.bom':
    case 'sse.line_ending':
    case 'sse.field':
    case 'sse.data_lines':
    case 'sse.id_invalid':
    case 'sse.id_missing':
    case 'sse.id_duplicate':
    case 'sse.id_gap':
    case 'sse.event_name':
    case 'sse.truncated':
      return 'sse';
    case 'json.utf8':
    case 'json.syntax':
    case 'json.depth':
    case 'json.duplicate_member':
    case 'json.forbidden_member':
    case 'json.surrogate':
    case 'json.number':
      return 'json';
    case 'jsonrpc.members':
    case 'jsonrpc.version':
    case 'jsonrpc.id':
    case 'jsonrpc.result_or_error':
    case 'jsonrpc.error_object':
      return 'jsonrpc';
    case 'remote.error':
      return 'remote';
    case 'a2a.payload':
    case 'a2a.schema':
    case 'a2a.identity':
      return 'a2a';
    case 'stream.first_event':
    case 'stream.message_only':
    case 'stream.identity':
    case 'stream.after_end':
    case 'stream.incomplete':
      return 'stream';
    case 'network.refused':
      return 'network';
    case 'card.interface':
    case 'card.unsigned':
    case 'card.signature':
    case 'card.keys':
    case 'card.store':
      return 'card';
    case 'agent.authorization':
    case 'agent.artifact_append':
    case 'agent.task_bytes':
    case 'agent.stream_read':
      return 'agent';
    case 'text.address':
    case 'text.empty':
    case 'text.closed':
    case 'text.failed':
      return 'text';
  }
}

describe('The compiler', () => {
  test('is asked by assertions that can fail', () => {
    compiled(() => [
      // @ts-expect-error One is a number, and not every number is one.
      holds<Same<1, number>>(true),
      // @ts-expect-error What is anything passes for nothing.
      holds<Fits<ReturnType<typeof JSON.parse>, Error>>(true),
    ]);
  });

  test('knows each rule and each kind, and no other', () => {
    for (const [rule, kind] of Object.entries(FAILURE_RULES) as [FailureRule, FailureKind][]) {
      assert.equal(layerOf(rule), rule.split('.')[0]);
      assert.equal(isOurFault(kind), kind === 'invalid_argument');
    }
    holds<Same<(typeof FAILURE_RULES)[FailureRule], FailureKind>>(true);
    holds<Same<FailureRule, keyof typeof FAILURE_RULES>>(true);
    holds<Same<Delivery, 'not_sent' | 'unknown' | 'answered'>>(true);
    compiled(() => {
      // @ts-expect-error No rule of ours.
      const rule: FailureRule = 'http.teapot';
      // @ts-expect-error No kind of ours.
      const kind: FailureKind = 'internal';
      return [rule, kind];
    });
  });

  test('narrows a failure by its own rule, and knows what may be absent', () => {
    holds<Same<Failure['kind'], FailureKind>>(true);
    holds<Same<Failure['rule'], FailureRule>>(true);
    holds<Same<Failure['delivery'], Delivery>>(true);
    holds<Same<Failure['status'], number | undefined>>(true);
    holds<Same<Failure['code'], number | undefined>>(true);
    holds<Same<Failure['path'], string | undefined>>(true);
    holds<Same<Failure['retryAfterMs'], number | undefined>>(true);
    holds<Fits<unknown, ReturnType<Failure['unwrap']>>>(true);
    holds<Same<ReturnType<typeof failureOf>, Failure | undefined>>(true);
    holds<Fits<Failure, Error>>(true);
    holds<Same<RemoteError['data'], unknown>>(true);
    compiled(() => {
      const failure = failureOf(new Error('x'))!;
      // @ts-expect-error Nobody changes a failure.
      failure.rule = 'http.status';
      // @ts-expect-error The status may be absent.
      const status: number = failure.status;
      // @ts-expect-error A table that nobody changes.
      FAILURE_RULES['http.status'] = 'protocol';
      return status;
    });
  });

  test("takes the SDK's own objects for what a call asks", () => {
    holds<Fits<sdk.SendMessageRequest, SendMessageInput>>(true);
    holds<Fits<sdk.Message, MessageInput>>(true);
    holds<Fits<sdk.GetTaskRequest, GetTaskInput>>(true);
    holds<Fits<sdk.ListTasksRequest, ListTasksInput>>(true);
    holds<Fits<sdk.CancelTaskRequest, CancelTaskInput>>(true);
    holds<Fits<sdk.SubscribeToTaskRequest, SubscribeToTaskInput>>(true);
    holds<Fits<sdk.TaskPushNotificationConfig, CreatePushNotificationConfigInput>>(true);
    holds<Fits<sdk.GetTaskPushNotificationConfigRequest, GetPushNotificationConfigInput>>(true);
    holds<Fits<sdk.DeleteTaskPushNotificationConfigRequest, GetPushNotificationConfigInput>>(true);
    holds<Fits<sdk.ListTaskPushNotificationConfigsRequest, ListPushNotificationConfigsInput>>(true);
  });

  test("gives the SDK's own types for what a call answers", () => {
    holds<Same<Result<'sendMessage'>, SendMessageResult>>(true);
    holds<Same<SendMessageResult, { $case: 'task'; value: sdk.Task } | { $case: 'message'; value: sdk.Message }>>(true);
    holds<Same<Result<'getTask'>, sdk.Task>>(true);
    holds<Same<Result<'cancelTask'>, sdk.Task>>(true);
    holds<Same<Result<'listTasks'>, sdk.ListTasksResponse>>(true);
    holds<Same<Result<'createTaskPushNotificationConfig'>, sdk.TaskPushNotificationConfig>>(true);
    holds<Same<Result<'getTaskPushNotificationConfig'>, sdk.TaskPushNotificationConfig>>(true);
    holds<Same<Result<'listTaskPushNotificationConfigs'>, sdk.ListTaskPushNotificationConfigsResponse>>(true);
    holds<Same<Result<'deleteTaskPushNotificationConfig'>, undefined>>(true);
    holds<Same<Result<'getExtendedAgentCard'>, sdk.AgentCard>>(true);
    holds<Same<Result<'call'>, JsonValue>>(true);
    holds<Fits<Reply<sdk.Task>['raw'], Uint8Array>>(true);
    holds<Same<ReturnType<StrictClient['sendStreamingMessage']>, EventStream>>(true);
    holds<Same<ReturnType<StrictClient['subscribeToTask']>, EventStream>>(true);
    holds<Same<StreamEvent, NonNullable<sdk.StreamResponse['payload']>>>(true);
    holds<Same<StreamItem['id'], string | undefined>>(true);
    holds<Fits<EventStream, AsyncIterable<StreamItem> & AsyncDisposable>>(true);
    compiled(async () => {
      const client = new StrictClient(new Agent());
      const { result } = await client.sendMessage(OPTIONS, { message: userText('hi') });
      if (result.$case === 'task') result.value.status?.state.toFixed();
      else result.value.parts.at(0)?.content?.$case.toLowerCase();
      for await (const { event, raw } of client.subscribeToTask(STREAM_OPTIONS, { id: 'x' })) {
        if (event.$case === 'artifactUpdate') event.value.artifact?.parts.at(raw.length);
      }
    });
  });

  const OPTIONS: CallOptions = { endpoint: 'https://agent.example/', protocolVersion: '1.0', maxResponseBytes: 1 };
  const STREAM_OPTIONS: StreamOptions = { ...OPTIONS, maxEventBytes: 1 };

  test('takes the options that there are, frozen and constant ones too', () => {
    const constant = {
      endpoint: new URL('https://agent.example/'),
      protocolVersion: '0.3',
      maxResponseBytes: 1,
      maxRequestBytes: 1,
      headers: { 'x-key': 'a' },
      extensions: ['https://example.com/ext'],
      interceptors: [{ before: (call: OutgoingCall) => { call.headers.set('a', 'b'); } }, { after: (_: FinishedCall) => undefined }],
      signal: AbortSignal.abort(),
      connectTimeoutMs: 1,
      timeoutMs: 1,
      idleTimeoutMs: 1,
      secretHeaders: ['x-key'],
      allowCleartextCredentials: true,
    } as const satisfies CallOptions;
    assert.equal(Object.keys(constant).length, 13);
    holds<Fits<StreamOptions, CallOptions>>(true);
    holds<Same<ProtocolVersion, (typeof PROTOCOL_VERSIONS)[number]>>(true);
    holds<Same<EventIdMode, 'required' | 'sequential' | 'optional'>>(true);
    // Each optional one may be undefined, as configuration often is.
    const undefinedOnes: StreamOptions = { ...STREAM_OPTIONS, headers: undefined, signal: undefined, timeoutMs: undefined, eventIds: undefined };
    assert.equal(undefinedOnes.headers, undefined);
  });

  test('refuses the options that there are not, and those of another type', () => {
    compiled((): unknown[] => {
      const options: CallOptions[] = [
        // @ts-expect-error The endpoint is missing.
        { protocolVersion: '1.0', maxResponseBytes: 1 },
        // @ts-expect-error The dialect is missing: nothing is inferred.
        { endpoint: '', maxResponseBytes: 1 },
        // @ts-expect-error The bound is missing.
        { endpoint: '', protocolVersion: '1.0' },
        // @ts-expect-error No dialect of ours.
        { ...OPTIONS, protocolVersion: '0.2' },
        // @ts-expect-error A dialect is a text.
        { ...OPTIONS, protocolVersion: 1.0 },
        // @ts-expect-error A bound is a number.
        { ...OPTIONS, maxResponseBytes: '1' },
        // @ts-expect-error A bound is no BigInt.
        { ...OPTIONS, maxResponseBytes: 1n },
        // @ts-expect-error None is undefined, not null.
        { ...OPTIONS, timeoutMs: null },
        // @ts-expect-error It weakens, so there is no false.
        { ...OPTIONS, allowCleartextCredentials: false },
        // @ts-expect-error One text a header.
        { ...OPTIONS, headers: { a: ['b'] } },
        // @ts-expect-error Not an AbortController.
        { ...OPTIONS, signal: new AbortController() },
        // @ts-expect-error A list of interceptors.
        { ...OPTIONS, interceptors: { before: () => undefined } },
        // @ts-expect-error A list of texts.
        { ...OPTIONS, extensions: 'https://example.com/ext' },
        // @ts-expect-error A misspelt option.
        { ...OPTIONS, timeout: 1 },
        // @ts-expect-error An option of streams alone.
        { ...OPTIONS, maxEventBytes: 1 },
      ];
      const streamOptions: StreamOptions[] = [
        // @ts-expect-error A stream needs the bound of an event.
        OPTIONS,
        // @ts-expect-error No such mode.
        { ...STREAM_OPTIONS, eventIds: 'none' },
      ];
      // @ts-expect-error Nothing of the options is changed by those who have them.
      OPTIONS.endpoint = 'https://other.example/';
      return [options, streamOptions];
    });
  });

  test('refuses what a call cannot ask', () => {
    compiled((): unknown[] => {
      const client = new StrictClient(new Agent());
      const part = { content: { $case: 'text', value: 'x' } } as const;
      const message = { messageId: 'x', role: Role.ROLE_USER, parts: [part] } satisfies MessageInput;
      const text = (value: string): SendMessageInput => ({ message: userText(value) });
      return [
        client.sendMessage(OPTIONS, { message }),
        client.sendMessage(OPTIONS, text('x')),
        // @ts-expect-error A message is no text.
        client.sendMessage(OPTIONS, { message: 'x' }),
        // @ts-expect-error A request without a message.
        client.sendMessage(OPTIONS, {}),
        // @ts-expect-error A message without an id.
        client.sendMessage(OPTIONS, { message: { role: Role.ROLE_USER, parts: [part] } }),
        // @ts-expect-error The role by its name.
        client.sendMessage(OPTIONS, { message: { ...message, role: 'ROLE_USER' } }),
        // @ts-expect-error A part as it is on the wire.
        client.sendMessage(OPTIONS, { message: { ...message, parts: [{ text: 'x' }] } }),
        // @ts-expect-error Bytes that are a text.
        client.sendMessage(OPTIONS, { message: { ...message, parts: [{ content: { $case: 'raw', value: 'x' } }] } }),
        // @ts-expect-error The way 0.3 puts it.
        client.sendMessage(OPTIONS, { message, configuration: { blocking: true } }),
        // @ts-expect-error A stream needs options of a stream.
        client.sendStreamingMessage(OPTIONS, { message }),
        // @ts-expect-error No id of a task.
        client.getTask(OPTIONS, {}),
        // @ts-expect-error A misspelt member.
        client.getTask(OPTIONS, { id: 'x', historylength: 1 }),
        // @ts-expect-error A state by its name.
        client.listTasks(OPTIONS, { status: 'TASK_STATE_WORKING' }),
        client.listTasks(OPTIONS, { status: TaskState.TASK_STATE_WORKING }),
        client.listTasks(OPTIONS),
        // @ts-expect-error A config of no task.
        client.createTaskPushNotificationConfig(OPTIONS, { url: 'https://example.com/' }),
        // @ts-expect-error A Date is no JSON.
        client.call(OPTIONS, 'x', { at: new Date() }),
        client.call(OPTIONS, 'x', { at: [1, null, { a: 'b' }] } as const),
        client.call(OPTIONS, 'x'),
        // @ts-expect-error No dispatcher.
        new StrictClient('https://agent.example/'),
      ];
    });
  });

  test('holds interceptors to what they are shown', () => {
    holds<Same<OutgoingCall['headers'], Headers>>(true);
    holds<Same<FinishedCall['failure'], Failure | undefined>>(true);
    holds<Same<FinishedCall['status'], number | undefined>>(true);
    holds<Same<OutgoingCall['operation'], OperationName>>(true);
    holds<Same<OperationName, keyof StrictClient>>(true);
    class Tracing implements CallInterceptor {
      before(call: OutgoingCall): void {
        call.headers.set('traceparent', call.requestId);
      }
      async after({ failure, status = 0, milliseconds }: FinishedCall): Promise<void> {
        await Promise.resolve([failure?.kind, status, milliseconds]);
      }
    }
    const interceptors: readonly CallInterceptor[] = [new Tracing(), { before: () => undefined }];
    assert.equal(interceptors.length, 2);
    compiled((): CallInterceptor[] => [
      // @ts-expect-error A misspelt hook.
      { befor: () => undefined },
      // @ts-expect-error What is shown is not to be changed.
      { before: (call) => void (call.endpoint = 'https://other.example/') },
      // @ts-expect-error `after` changes no failure.
      { after: (call) => void (call.failure = undefined) },
    ]);
  });

  test('knows the enums for values, and that they are those of the SDK', async () => {
    const { Role: theirRole, TaskState: theirState } = await import('@a2a-js/sdk');
    assert.equal(Role, theirRole);
    assert.equal(TaskState, theirState);
    assert.equal(new RemoteError(1, 'x', undefined).code, 1);
    assert(!(new Error('x') instanceof Failure));
  });
});
