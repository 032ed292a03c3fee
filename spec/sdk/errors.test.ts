/** Which error of the SDK's an agent's error becomes: held against what the SDK's own transports make of the same answer. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ClientFactory, type Client, type TransportFactory } from '@a2a-js/sdk/client';
import * as errors from '@a2a-js/sdk/errors';
import { Agent } from 'undici';
import { Failure, RemoteError, failureOf } from '../../lib/index.js';
import { StrictTransportFactory } from '../../lib/sdk/index.js';
import { JSON_FIELD, RawServer, SSE_FIELD, WORKING, response, resultText } from '../hostile/raw_server.js';
import { cardAt, sdkTransport } from './card.js';

type ErrorClass = abstract new (...given: never[]) => Error;

/** A2A 1.0 section 5.4, JSON-RPC 2.0 section 5.1, and codes that neither knows. */
const TABLE: readonly (readonly [code: number, error: ErrorClass])[] = [
  [-32001, errors.TaskNotFoundError],
  [-32002, errors.TaskNotCancelableError],
  [-32003, errors.PushNotificationNotSupportedError],
  [-32004, errors.UnsupportedOperationError],
  [-32005, errors.ContentTypeNotSupportedError],
  [-32006, errors.InvalidAgentResponseError],
  [-32007, errors.ExtendedAgentCardNotConfiguredError],
  [-32008, errors.ExtensionSupportRequiredError],
  [-32009, errors.VersionNotSupportedError],
  [-32700, errors.RequestMalformedError],
  [-32600, errors.RequestMalformedError],
  [-32601, errors.RequestMalformedError],
  [-32602, errors.RequestMalformedError],
  [-32603, errors.JsonRpcTransportError],
  [-32000, errors.JsonRpcTransportError],
  [-32099, errors.JsonRpcTransportError],
  [0, errors.JsonRpcTransportError],
  [1, errors.JsonRpcTransportError],
  [Number.MAX_SAFE_INTEGER, errors.JsonRpcTransportError],
];

/** `data` as an agent may send it, and whether the SDK's type has a place for it. */
const DATA: readonly (readonly [data: unknown, isKept: boolean])[] = [
  [[{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'ANY', domain: 'a2a-protocol.org' }], true],
  [{ some: 'thing' }, true],
  [[], true],
  ['a text', false],
  [7, false],
  [null, false],
  [[{ fine: true }, 'not fine'], false],
];

const GIVEN = { tenant: '', id: 'task-1', historyLength: undefined };

let server: RawServer;
let error: Record<string, unknown> = {};
let status = 200;
/** The error comes as the second event of a stream. */
let inStream = false;
const dispatcher = new Agent();

before(async () => {
  server = await RawServer.listen((socket, { body }) => {
    // The SDK's ids are numbers.
    const { id } = JSON.parse(body) as { id: string };
    const text = JSON.stringify({ jsonrpc: '2.0', id, error });
    if (inStream) socket.write(response(200, [SSE_FIELD], `data: ${resultText(id, WORKING)}\n\nevent: error\ndata: ${text}\n\n`));
    else socket.write(response(status, [JSON_FIELD], text));
  });
});
after(async () => {
  await dispatcher.destroy();
  await server.close();
});

const client = (factory: TransportFactory, protocolVersion = '1.0'): Promise<Client> =>
  new ClientFactory({ transports: [factory] }).createFromAgentCard(cardAt(`${server.origin}/`, { protocolVersion }));
const ours = (protocolVersion?: string): Promise<Client> => client(new StrictTransportFactory({ dispatcher }), protocolVersion);
const theirs = (protocolVersion?: string): Promise<Client> => client(sdkTransport(), protocolVersion);

async function thrown(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (cause) {
    assert.ok(cause instanceof Error);
    return cause;
  }
  assert.fail('nothing was thrown');
}

/** All that a user of the SDK may look at; ids are each transport's own. */
function seen(cause: Error): Record<string, unknown> {
  const { message, constructor } = cause;
  const { errorResponse: _, ...own } = cause as object & { errorResponse?: unknown };
  return { class: constructor.name, said: message, ...own };
}

describe('An agent’s error', () => {
  for (const protocolVersion of ['1.0', '0.3']) {
    for (const httpStatus of [200, 400]) {
      test(`is the SDK’s typed error, just as its own transport throws it: ${protocolVersion}, status ${httpStatus}`, async () => {
        status = httpStatus;
        inStream = false;
        const [strict, peer] = [await ours(protocolVersion), await theirs(protocolVersion)];
        for (const [code, expected] of TABLE) {
          error = { code, message: `the agent says ${code}` };
          const [own, other] = [await thrown(strict.getTask(GIVEN)), await thrown(peer.getTask(GIVEN))];
          assert.ok(own instanceof expected, `${code}: ${own.name}`);
          assert.deepEqual(seen(own), seen(other));
          const failure = failureOf(own);
          assert.equal(own.cause, failure);
          assert.deepEqual([failure?.rule, failure?.code, failure?.status], ['remote.error', code, httpStatus]);
        }
      });
    }
  }

  test('keeps its data where the SDK’s type has a place for it, and all of it behind the failure', async () => {
    status = 200;
    inStream = false;
    const [strict, peer] = [await ours(), await theirs()];
    for (const [data, isKept] of DATA) {
      error = { code: -32001, message: 'no', data };
      const own = await thrown(strict.getTask(GIVEN));
      assert.ok(errors.isJsonRpcError(own));
      assert.deepEqual(own.data, isKept ? data : undefined);
      if (isKept) assert.deepEqual(seen(own), seen(await thrown(peer.getTask(GIVEN))));
      const remote = failureOf(own)?.unwrap();
      assert.ok(remote instanceof RemoteError);
      assert.deepEqual(remote.data, data);
    }
  });

  test('in the middle of a stream, and in place of one, is the typed error itself', async () => {
    const strict = await ours();
    error = { code: -32005, message: 'not that' };
    for (inStream of [true, false]) {
      const stream = strict.resubscribeTask({ tenant: '', id: 'task-1' });
      if (inStream) assert.equal((await stream.next()).done, false);
      const own = await thrown(stream.next());
      assert.ok(own instanceof errors.ContentTypeNotSupportedError);
      assert.equal(failureOf(own)?.code, -32005);
      assert.deepEqual(await stream.next(), { done: true, value: undefined });
    }
  });

  test('is none where the agent breaks a rule: that is the failure itself', async () => {
    status = 200;
    inStream = false;
    const strict = await ours();
    for (const [wrong, rule] of [
      [{ code: '-32001', message: 'no' }, 'jsonrpc.error_object'],
      [{ code: -32001.5, message: 'no' }, 'jsonrpc.error_object'],
      [{ code: -32001, message: 'no', cause: 'mine' }, 'jsonrpc.error_object'],
    ] as const) {
      error = wrong;
      const own = await thrown(strict.getTask(GIVEN));
      assert.ok(own instanceof Failure);
      assert.equal(own.rule, rule);
      assert.equal(own instanceof errors.A2AError, false);
    }
  });
});
