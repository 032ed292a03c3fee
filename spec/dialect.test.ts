import {
  AgentCard,
  ListTasksResponse,
  Message,
  Role,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
  TaskState,
  type Artifact,
  type Part,
  type TaskStatus,
} from '@a2a-js/sdk';
import { legacyPushNotificationToV1StreamResponse } from '@a2a-js/sdk/compat/v0_3';
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { v0_3 } from '../lib/dialect/v0_3.js';
import { v1_0 } from '../lib/dialect/v1_0.js';
import { Refusal } from '../lib/failure.js';

// ---- Valid objects of the SDK's 1.x types, generated ----

const name = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' });
const maybeName = fc.oneof(fc.constant(''), name);
const metadata = fc.option(fc.dictionary(fc.constantFrom('a', 'constructor', 'toString', 'é'), fc.jsonValue({ maxDepth: 2 })), {
  nil: undefined,
});
const content: fc.Arbitrary<NonNullable<Part['content']>> = fc.oneof(
  fc.record({ $case: fc.constant('text' as const), value: fc.string() }),
  fc.record({ $case: fc.constant('raw' as const), value: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes)) }),
  fc.record({ $case: fc.constant('url' as const), value: fc.webUrl() }),
  // Null is left out: the SDK itself loses it.
  fc.record({ $case: fc.constant('data' as const), value: fc.jsonValue({ maxDepth: 2 }).filter((value) => value !== null) }),
);
const part: fc.Arbitrary<Part> = fc.record({ content, metadata, filename: maybeName, mediaType: maybeName });
const parts = fc.array(part, { minLength: 1, maxLength: 3 });
const names = fc.array(name, { maxLength: 2 });
const message: fc.Arbitrary<Message> = fc.record({
  messageId: name,
  contextId: maybeName,
  taskId: maybeName,
  role: fc.constantFrom(Role.ROLE_USER, Role.ROLE_AGENT),
  parts,
  metadata,
  extensions: names,
  referenceTaskIds: names,
});
const artifact: fc.Arbitrary<Artifact> = fc.record({
  artifactId: name,
  name: maybeName,
  description: maybeName,
  parts,
  metadata,
  extensions: names,
});
const timestamp = fc.constantFrom(undefined, '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.123456+02:00', '2024-02-29T23:59:59.123456789-11:30');
const state = fc.constantFrom(
  TaskState.TASK_STATE_SUBMITTED,
  TaskState.TASK_STATE_WORKING,
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_INPUT_REQUIRED,
  TaskState.TASK_STATE_AUTH_REQUIRED,
  TaskState.TASK_STATE_REJECTED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
);
const status: fc.Arbitrary<TaskStatus> = fc.record({ state, message: fc.option(message, { nil: undefined }), timestamp });
const task: fc.Arbitrary<Task> = fc.record({
  id: name,
  contextId: name,
  status,
  artifacts: fc.array(artifact, { maxLength: 2 }),
  history: fc.array(message, { maxLength: 2 }),
  metadata,
});
const event: fc.Arbitrary<NonNullable<StreamResponse['payload']>> = fc.oneof(
  fc.record({ $case: fc.constant('task' as const), value: task }),
  fc.record({ $case: fc.constant('message' as const), value: message }),
  fc.record({
    $case: fc.constant('statusUpdate' as const),
    value: fc.record({ taskId: name, contextId: name, status, metadata }),
  }),
  fc.record({
    $case: fc.constant('artifactUpdate' as const),
    value: fc.record({ taskId: name, contextId: name, artifact, append: fc.boolean(), lastChunk: fc.boolean(), metadata }),
  }),
);

/** As it would arrive. */
const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const ROUNDS = { seed: 5, numRuns: 500 };

describe('1.0 decodes what the SDK encodes to the very object it was', () => {
  test('events', () => {
    fc.assert(
      fc.property(event, (payload) => {
        const decoded = v1_0.decodeEvent(overTheWire(StreamResponse.toJSON({ payload })));
        assert.deepEqual(overTheWireParts(decoded), overTheWireParts(payload));
      }),
      ROUNDS,
    );
  });

  test('tasks, lists of tasks and push configs', () => {
    const { getTask, listTasks, getTaskPushNotificationConfig } = v1_0.unary;
    fc.assert(
      fc.property(task, fc.nat({ max: 1000 }), maybeName, (value, count, text) => {
        assert.deepEqual(overTheWireParts(getTask!.decode(overTheWire(Task.toJSON(value)))), overTheWireParts(value));
        const page = { tasks: [value], nextPageToken: text, pageSize: count, totalSize: count };
        assert.deepEqual(overTheWireParts(listTasks!.decode(overTheWire(ListTasksResponse.toJSON(page)))), overTheWireParts(page));
        const config = {
          tenant: text,
          id: text,
          taskId: value.id,
          url: 'https://agent.example/hook',
          token: text,
          authentication: count % 2 === 0 ? undefined : { scheme: text, credentials: text },
        };
        const encoded = overTheWire(TaskPushNotificationConfig.toJSON(config));
        assert.deepEqual(getTaskPushNotificationConfig!.decode(encoded), config);
      }),
      ROUNDS,
    );
  });

  test('requests: what we encode, the SDK reads as the very request', () => {
    fc.assert(
      fc.property(message, metadata, (sent, meta) => {
        const request = { tenant: 't', message: sent, configuration: undefined, metadata: meta };
        const encoded = v1_0.unary.sendMessage!.encode(request) as { message: unknown; metadata?: unknown };
        assert.deepEqual(overTheWireParts(Message.fromJSON(overTheWire(encoded.message))), overTheWireParts(sent));
        assert.deepEqual(overTheWire(encoded.metadata ?? null), overTheWire(meta ?? null));
      }),
      ROUNDS,
    );
  });
});

/** -0 has no other form in JSON than 0. */
function overTheWireParts(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, item: unknown) => (Object.is(item, -0) ? 0 : item)));
}

describe('0.3', () => {
  const STATES: Record<number, string> = { 1: 'submitted', 2: 'working', 3: 'completed', 4: 'failed', 5: 'canceled', 6: 'input-required', 7: 'rejected', 8: 'auth-required' };
  const clean = (object: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== ''));

  /** The 0.3 form of a 1.x object, written down independently of the code under test. */
  const wirePart = ({ content: is, metadata: meta, filename, mediaType }: Part): unknown => {
    if (is!.$case === 'text') return { ...clean({ kind: 'text', metadata: meta }), text: is!.value };
    if (is!.$case === 'raw') {
      return clean({ kind: 'file', file: { ...clean({ name: filename, mimeType: mediaType }), bytes: is!.value.toString('base64') }, metadata: meta });
    }
    if (is!.$case === 'url') return clean({ kind: 'file', file: { ...clean({ name: filename, mimeType: mediaType }), uri: is!.value }, metadata: meta });
    const value: unknown = is!.value;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return clean({ kind: 'data', data: value, metadata: meta });
    return { kind: 'data', data: { value }, metadata: { ...meta, data_part_compat: true } };
  };
  const wireMessage = (value: Message): unknown =>
    clean({ ...value, kind: 'message', role: value.role === Role.ROLE_USER ? 'user' : 'agent', parts: value.parts.map(wirePart) });
  const wireArtifact = (value: Artifact): unknown => clean({ ...value, parts: value.parts.map(wirePart) });
  const wireStatus = (value: TaskStatus): unknown =>
    clean({ ...value, state: STATES[value.state], message: value.message && wireMessage(value.message) });
  const wireEvent = (payload: NonNullable<StreamResponse['payload']>): unknown => {
    switch (payload.$case) {
      case 'task':
        return clean({
          ...payload.value,
          kind: 'task',
          status: wireStatus(payload.value.status!),
          artifacts: payload.value.artifacts.map(wireArtifact),
          history: payload.value.history.map(wireMessage),
        });
      case 'message':
        return wireMessage(payload.value);
      case 'statusUpdate':
        return clean({ ...payload.value, kind: 'status-update', status: wireStatus(payload.value.status!), final: false });
      case 'artifactUpdate':
        return clean({ ...payload.value, kind: 'artifact-update', artifact: wireArtifact(payload.value.artifact!) });
    }
  };

  test('events decode to what the SDK makes of them too', () => {
    fc.assert(
      fc.property(event, (payload) => {
        const wire = overTheWire(wireEvent(payload));
        const { payload: expected } = legacyPushNotificationToV1StreamResponse(overTheWire(wire));
        assert.deepEqual(overTheWireParts(v0_3.decodeEvent(wire)), overTheWireParts(expected));
      }),
      ROUNDS,
    );
  });

  test('a wrapped data part is unwrapped, null included, and the mark taken off', () => {
    const wire = (data: unknown, meta: unknown): unknown => ({
      kind: 'message',
      messageId: 'm',
      role: 'agent',
      parts: [{ kind: 'data', data, metadata: meta }],
    });
    const decoded = (data: unknown, meta: unknown): unknown => {
      const { value } = v0_3.decodeEvent(wire(data, meta)) as { value: Message };
      return [value.parts[0]!.content?.value, value.parts[0]!.metadata];
    };
    assert.deepEqual(decoded({ value: null }, { data_part_compat: true }), [null, undefined]);
    assert.deepEqual(decoded({ value: [1] }, { data_part_compat: true, x: 1 }), [[1], { x: 1 }]);
    assert.deepEqual(decoded({ value: 1 }, { x: 1 }), [{ value: 1 }, { x: 1 }]);
    assert.deepEqual(decoded({ value: 1 }, { data_part_compat: 'yes' }), [{ value: 1 }, { data_part_compat: 'yes' }]);
    assert.throws(() => decoded([1], { data_part_compat: true }), refusal('a2a.schema', 'parts[0].data'));
  });

  test('several authentication schemes of a push config are refused: 1.x holds one', () => {
    const config = (schemes: string[]): unknown => ({
      taskId: 't',
      pushNotificationConfig: { url: 'https://agent.example/hook', authentication: { schemes } },
    });
    const { decode } = v0_3.unary.getTaskPushNotificationConfig!;
    assert.equal(decode(config(['Bearer'])).authentication?.scheme, 'Bearer');
    assert.equal(decode(config([])).authentication?.scheme, '');
    assert.throws(() => decode(config(['Bearer', 'Basic'])), refusal('a2a.schema', 'pushNotificationConfig.authentication.schemes'));
  });

  test('only a status update is final', () => {
    assert.equal(v0_3.isFinal({ kind: 'status-update', final: true }), true);
    assert.equal(v0_3.isFinal({ kind: 'artifact-update', final: true }), false);
    assert.equal(v0_3.isFinal({ kind: 'status-update', final: false }), false);
    assert.equal(v0_3.isFinal(null), false);
  });
});

function refusal(rule: string, path?: string): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof Refusal);
    assert.deepEqual([error.rule, error.path], [rule, path]);
    return true;
  };
}

test('The bytes of a raw part are in a buffer of their own', () => {
  const decoded = v1_0.decodeEvent({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ raw: 'aGk' }, { raw: '-_8' }, { raw: '' }] } });
  assert.ok(decoded.$case === 'message');
  const bytes = decoded.value.parts.map(({ content: is }) => (is?.$case === 'raw' ? is.value : Buffer.alloc(1)));
  assert.deepEqual(bytes.map((each) => each.toString('hex')), ['6869', 'fbff', '']);
  assert.equal(new Set(bytes.map(({ buffer }) => buffer)).size, 3);
  for (const { buffer } of bytes) assert.ok(buffer.byteLength <= 4);
});

describe('Agent cards', () => {
  const V1 = {
    name: 'Card',
    supportedInterfaces: [{ url: 'https://agent.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    provider: { organization: 'Example', url: 'https://agent.example' },
    version: '1',
    documentationUrl: 'https://agent.example/docs',
    capabilities: { streaming: true, extensions: [{ uri: 'https://agent.example/ext', required: true, params: { a: [1] } }] },
    securitySchemes: {
      key: { apiKeySecurityScheme: { location: 'header', name: 'x-key' } },
      http: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } },
      oauth: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 'https://agent.example/t', scopes: { read: 'r' } } } } },
      device: { oauth2SecurityScheme: { flows: { deviceCode: { deviceAuthorizationUrl: 'https://agent.example/d', tokenUrl: 't' } } } },
      oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://agent.example/o' } },
      mtls: { mtlsSecurityScheme: { description: 'd' } },
    },
    securityRequirements: [{ schemes: { key: { list: [] }, oauth: { list: ['read'] } } }],
    defaultInputModes: ['text/plain'],
    skills: [{ id: 's', name: 'S', description: 'd', tags: ['t'], examples: ['e'], securityRequirements: [{ schemes: { key: {} } }] }],
    signatures: [{ protected: 'e30', signature: 'AA', header: { kid: 'k' } }],
  };

  test('a 1.0 card decodes to what the SDK makes of it too', () => {
    assert.deepEqual(v1_0.unary.getExtendedAgentCard!.decode(overTheWire(V1)), AgentCard.fromJSON(V1));
    const { capabilities, ...bare } = v1_0.unary.getExtendedAgentCard!.decode({});
    assert.equal(capabilities, undefined);
    assert.deepEqual(bare.supportedInterfaces, []);
  });

  test('a 0.3 card is brought to the 1.x shape', () => {
    const card = v0_3.unary.getExtendedAgentCard!.decode({
      name: 'Card',
      description: 'd',
      url: 'https://agent.example/a2a',
      protocolVersion: '0.3.0',
      version: '2',
      capabilities: { streaming: true, stateTransitionHistory: true },
      supportsAuthenticatedExtendedCard: true,
      additionalInterfaces: [{ url: 'https://agent.example/grpc', transport: 'GRPC' }],
      securitySchemes: {
        key: { type: 'apiKey', in: 'query', name: 'k' },
        http: { type: 'http', scheme: 'basic' },
        code: { type: 'oauth2', flows: { authorizationCode: { authorizationUrl: 'a', tokenUrl: 't', scopes: {} }, implicit: {} } },
        client: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 't' } } },
        implicit: { type: 'oauth2', flows: { implicit: { authorizationUrl: 'a' } } },
        password: { type: 'oauth2', flows: { password: { tokenUrl: 't' } } },
        none: { type: 'oauth2', flows: {} },
        oidc: { type: 'openIdConnect', openIdConnectUrl: 'o' },
        mtls: { type: 'mutualTLS' },
        later: { type: 'quantum' },
      },
      security: [{ key: [], code: ['read'] }],
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 's', name: 'S', description: 'd', tags: [], security: [{ key: [] }] }],
    });
    assert.deepEqual(card.supportedInterfaces, [
      { url: 'https://agent.example/a2a', protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '0.3.0' },
      { url: 'https://agent.example/grpc', protocolBinding: 'GRPC', tenant: '', protocolVersion: '0.3' },
    ]);
    assert.deepEqual(card.capabilities, { streaming: true, pushNotifications: undefined, extensions: [], extendedAgentCard: true });
    assert.deepEqual(card.securityRequirements, [{ schemes: { key: { list: [] }, code: { list: ['read'] } } }]);
    assert.deepEqual(card.skills[0]!.securityRequirements, [{ schemes: { key: { list: [] } } }]);
    const kinds = Object.entries(card.securitySchemes).map(([key, { scheme }]) => [
      key,
      scheme?.$case === 'oauth2SecurityScheme' ? (scheme.value.flows?.flow?.$case ?? 'no flow') : scheme?.$case,
    ]);
    assert.deepEqual(Object.fromEntries(kinds), {
      key: 'apiKeySecurityScheme',
      http: 'httpAuthSecurityScheme',
      code: 'authorizationCode',
      client: 'clientCredentials',
      implicit: 'implicit',
      password: 'password',
      none: 'no flow',
      oidc: 'openIdConnectSecurityScheme',
      mtls: 'mtlsSecurityScheme',
      later: undefined,
    });
  });

  test('what is wrong in a card is named by its place, and never by the words of the card', () => {
    const { decode } = v1_0.unary.getExtendedAgentCard!;
    assert.throws(() => decode({ skills: [{}, { tags: 'x' }] }), refusal('a2a.schema', 'skills[1].tags'));
    assert.throws(() => decode({ securitySchemes: { 'FAKE-SECRET': { apiKeySecurityScheme: { name: 1 } } } }), refusal('a2a.schema', 'securitySchemes'));
    assert.throws(() => decode({ securitySchemes: { a: { apiKeySecurityScheme: {}, mtlsSecurityScheme: {} } } }), refusal('a2a.payload', 'securitySchemes'));
    assert.throws(() => decode({ securityRequirements: [{ schemes: { 'FAKE-SECRET': { list: [1] } } }] }), refusal('a2a.schema', 'securityRequirements[0].schemes'));
    assert.throws(() => decode([]), refusal('a2a.schema'));
  });
});
