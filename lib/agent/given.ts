/** What a caller gives to a call, read once. */
import type { SendMessageRequest } from '@a2a-js/sdk';
import { UNARY_REQUESTS, checkRequest, userText, type MessageInput } from '../dialect/request.js';
import { Failure, Refusal } from '../failure.js';
import { checkSendSettings, type SendSettings } from './options.js';

/** Reads what the caller gave, once. @throws {Failure} `options.*`, `request.params` */
export function readSend(input: string | MessageInput, settings: SendSettings): { signal: AbortSignal | undefined; params: SendMessageRequest } {
  return refusing(() => {
    const { signal, taskId, contextId, configuration, metadata } = checkSendSettings(settings);
    const message = messageOf(input, { taskId, contextId });
    return { signal, params: checkRequest(UNARY_REQUESTS.sendMessage, { message, configuration, metadata }) };
  });
}

/** What is no message is refused with the rest of the request. @throws {Refusal} `request.params` */
function messageOf(input: string | MessageInput, ids: Pick<MessageInput, 'taskId' | 'contextId'>): MessageInput {
  let message: MessageInput;
  try {
    message = typeof input === 'string' ? userText(input) : { ...input };
  } catch (reason) {
    throw new Refusal('request.params', { path: 'message', reason });
  }
  for (const name of ['taskId', 'contextId'] as const) {
    const id = ids[name];
    if (id === undefined) continue;
    if ((message[name] ?? '') !== '' && message[name] !== id) throw new Refusal('request.params', { path: `message.${name}` });
    message = { ...message, [name]: id };
  }
  return message;
}

/** @throws {Failure} of a call that was not sent */
export function checked<T>(check: (options: unknown) => T, options: unknown): T {
  return refusing(() => check(options));
}

export function refusing<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw notSent(error);
  }
}

function notSent(error: unknown): unknown {
  return error instanceof Refusal ? new Failure(error.rule, { delivery: 'not_sent', path: error.path, cause: error.reason }) : error;
}
