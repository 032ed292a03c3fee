/** A request that the client itself would not send, and the judgement of its answer by the same rules as any. */
import { v0_3 } from '../../dialect/v0_3.js';
import { v1_0 } from '../../dialect/v1_0.js';
import { checkCallOptions } from '../../options.js';
import { callUnary, type Reply } from '../../unary.js';
import { requestId } from '../../wire/jsonrpc.js';
import type { Subject } from './subject.js';

export interface RawRequest {
  /** @param id what the answer has to say; an error may say null instead */
  readonly body: (id: string) => string;
  /** Absent: that of the dialect. */
  readonly version?: string;
}

export function rawCall({ dispatcher, options }: Subject, { body, version }: RawRequest): Promise<Reply<unknown>> {
  const dialect = options.protocolVersion === '1.0' ? v1_0 : v0_3;
  const id = requestId();
  const [versionHeader, ownVersion] = dialect.versionHeader ?? [];
  const headers = ['content-type', 'application/json', 'accept', 'application/json', 'accept-encoding', 'identity'];
  if (versionHeader !== undefined && ownVersion !== undefined) headers.push(versionHeader, version ?? ownVersion);
  return callUnary(
    dispatcher,
    { policy: checkCallOptions(options), operation: 'call', method: '', id, body: Buffer.from(body(id)), headers },
    { decode: (result) => result, resultOptional: false, errorMediaType: dialect.errorMediaType },
  );
}
