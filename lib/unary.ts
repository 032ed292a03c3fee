/** A unary call: one request, one whole answer, judged layer by layer. */
import type { Dispatcher } from 'undici';
import { Call, type PreparedCall } from './call.js';
import { CallTrace } from './diagnostics.js';
import { Refusal, type Failure, type FailureRule } from './failure.js';
import { judgeHead, type BodyPlan, type ResponseHead } from './wire/http.js';
import { ResponseDecoder, type RpcResult } from './wire/jsonrpc.js';

/** The exact answer to a call. */
export interface Reply<T> {
  /** The result, decoded to the SDK's type and checked against its schema. Its texts and open values are the agent's own words. */
  readonly result: T;
  /** The exact bytes of the JSON-RPC result, in a buffer of their own. Checked to be I-JSON; unknown members are in here alone. */
  readonly raw: Uint8Array;
}

/** How the result of a prepared unary call is judged. */
export interface UnaryJudge<T> {
  /** @throws {Refusal} `a2a.*` */
  readonly decode: (result: unknown) => T;
  /** An answer with neither result nor error stands for an empty result. */
  readonly resultOptional: boolean;
  readonly errorMediaType: string | undefined;
}

export function callUnary<T>(dispatcher: Dispatcher, prepared: PreparedCall, judge: UnaryJudge<T>): Promise<Reply<T>> {
  return new Promise((resolve, reject) => {
    new UnaryCall(dispatcher, prepared, judge, resolve, reject).start();
  });
}

/**
 * Judges a whole unary body.
 * @throws {Refusal}
 */
export function judgeBody<T>(body: Buffer, plan: BodyPlan, id: string, judge: UnaryJudge<T>): Reply<T> {
  const decoder = new ResponseDecoder(id, judge.resultOptional);
  const { value, raw } = plan.kind === 'error' ? decodeError(body, decoder, plan) : decoder.decode(body);
  return { result: judge.decode(value), raw };
}

/** A body of which only a JSON-RPC error counts. Always throws. */
export function decodeError(body: Buffer, decoder: ResponseDecoder, plan: BodyPlan & { kind: 'error' }): RpcResult {
  try {
    decoder.decode(body);
  } catch (error) {
    if (!plan.whateverElse || (error instanceof Refusal && error.rule === 'remote.error')) throw error;
  }
  throw new Refusal(plan.otherwise);
}

const BLOCK_BYTES = 16 * 1024;

/**
 * Collects a body, at most its bound. A chunk is a view of all that was read from the socket at once, and an object of its own: what comes in
 * tiny chunks, or in chunks that a hostile agent has padded with extensions, is copied together, so that memory follows the bytes.
 */
export class Body {
  readonly #max: number;
  readonly #parts: Buffer[] = [];
  #block: Buffer = Buffer.alloc(0);
  #used = 0;
  #length = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** @returns whether the bound still holds */
  add(chunk: Buffer): boolean {
    this.#length += chunk.length;
    if (this.#length > this.#max) return false;
    const isPadded = chunk.length * 4 < chunk.buffer.byteLength;
    // Most bodies come in one chunk, and large ones in large chunks.
    const isOnly = this.#length === chunk.length;
    if (!isPadded && (isOnly || chunk.length >= BLOCK_BYTES)) {
      this.#endBlock();
      this.#parts.push(chunk);
    } else {
      this.#copy(chunk);
    }
    return true;
  }

  whole(): Buffer {
    this.#endBlock();
    const [first] = this.#parts;
    return this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts, this.#length);
  }

  #copy(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#used === this.#block.length) {
        this.#endBlock();
        this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      }
      const copied = chunk.copy(this.#block, this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  #endBlock(): void {
    if (this.#used > 0) this.#parts.push(this.#block.subarray(0, this.#used));
    this.#block = Buffer.alloc(0);
    this.#used = 0;
  }
}

/** What a body comes to that outgrows its bound, or that the connection fails: of some plans, nothing but their own rule. */
export function bodyRefusal(plan: BodyPlan, own: Refusal): Refusal {
  return plan.kind === 'error' && plan.whateverElse ? new Refusal(plan.otherwise, { reason: own.reason }) : own;
}

/** Rules that the network breaks inside a body. */
export const BODY_RULES: ReadonlySet<FailureRule> = new Set(['http.truncated', 'http.malformed', 'limit.response_bytes']);

class UnaryCall<T> extends Call {
  readonly #judge: UnaryJudge<T>;
  readonly #resolve: (reply: Reply<T>) => void;
  readonly #reject: (failure: Failure) => void;
  readonly #body: Body;
  #plan: BodyPlan = { kind: 'answer' };
  #reply: Reply<T> | undefined;

  constructor(
    dispatcher: Dispatcher,
    prepared: PreparedCall,
    judge: UnaryJudge<T>,
    resolve: (reply: Reply<T>) => void,
    reject: (failure: Failure) => void,
  ) {
    super(dispatcher, prepared);
    this.#judge = judge;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#body = new Body(prepared.policy.maxResponseBytes);
  }

  override head(head: ResponseHead): void {
    const { maxResponseBytes, allowPlainTextResults = false } = this.prepared.policy;
    const { errorMediaType } = this.#judge;
    this.#plan = judgeHead(head, { stream: false, maxResponseBytes, errorMediaType, allowPlainTextResults });
  }

  override data(chunk: Buffer): void {
    if (!this.#body.add(chunk)) throw bodyRefusal(this.#plan, new Refusal('limit.response_bytes'));
  }

  override end(): void {
    this.#reply = judgeBody(this.#body.whole(), this.#plan, this.prepared.id, this.#judge);
    CallTrace.accepted(this.trace, this.#reply, this.#reply.result);
    this.finish(undefined);
  }

  override failed(failure: Failure): void {
    const isOfBody = this.#plan.kind === 'error' && BODY_RULES.has(failure.rule);
    super.failed(isOfBody ? this.exchange.failure(bodyRefusal(this.#plan, new Refusal(failure.rule, { reason: failure.unwrap() }))) : failure);
  }

  protected override get events(): number {
    return 0;
  }

  protected override get isLeft(): boolean {
    return false;
  }

  protected override settled(failure: Failure | undefined): void {
    if (failure !== undefined) this.#reject(failure);
    else if (this.#reply !== undefined) this.#resolve(this.#reply);
  }
}
