/** A stream in which no two events are alike: other kinds, other members, other texts, other metadata each time. The same on every run. */

/** From the eleventh on they are not ASCII, or have to be escaped; one event in four has such. */
const SYLLABLES = ['ka', 'lo', 'mi', 'tre', 'su', 'ver', 'do', 'qu', 'rum', 'bel', 'pán', 'ño', '走', 'é', '"', '\n'];
const PLAIN_SYLLABLES = 10;
const NAMES = ['source', 'score', 'tags', 'trace', 'locale', 'model', 'usage', 'step', 'origin', 'labels', 'hints', 'seed'];

/** Makes up one event. The same number gives the same event. */
class Imagination {
  readonly #number: number;
  readonly #syllables: number;
  #state: number;

  constructor(number: number) {
    this.#number = number;
    this.#state = number;
    this.#syllables = number % 4 === 0 ? SYLLABLES.length : PLAIN_SYLLABLES;
  }

  /** JSON. */
  result(taskId: string, contextId: string): string {
    const metadata = { at: this.#number, note: this.#words(4), ...this.#object(2) };
    const message = (): object => ({
      ...this.#maybe({ contextId, taskId }),
      messageId: `m-${String(this.#next())}`,
      role: 'ROLE_AGENT',
      parts: this.#parts(),
      ...this.#maybe({ metadata: this.#object(1) }),
    });
    const artifact = (): object => ({
      artifactId: `a-${String(this.#below(8))}`,
      ...this.#maybe({ name: this.#words(2) }),
      parts: this.#parts(),
      ...this.#maybe({ description: this.#words(6) }),
    });
    const status = (): object => ({
      state: 'TASK_STATE_WORKING',
      ...this.#maybe({ timestamp: `2026-01-02T03:04:${String(10 + this.#below(50))}.${String(100 + this.#below(900))}Z` }),
      ...this.#maybe({ message: message() }),
    });
    switch (this.#below(8)) {
      case 0:
        return JSON.stringify({ task: { id: taskId, contextId, status: status(), artifacts: [artifact()], metadata } });
      case 1:
      case 2:
      case 3:
        return JSON.stringify({ statusUpdate: { taskId, ...this.#maybe({ contextId }), status: status(), metadata } });
      default: {
        const flags = { ...this.#maybe({ append: true }), ...this.#maybe({ lastChunk: false }) };
        return JSON.stringify({ artifactUpdate: { metadata, ...flags, contextId, artifact: artifact(), taskId } });
      }
    }
  }

  #parts(): object[] {
    return Array.from({ length: 1 + this.#below(3) }, () => this.#part());
  }

  #part(): object {
    const others = { ...this.#maybe({ mediaType: 'text/plain' }), ...this.#maybe({ filename: `${this.#words(1)}.txt` }) };
    switch (this.#below(6)) {
      case 0:
        return { data: this.#value(2), ...others };
      case 1:
        return { ...others, url: `https://files.example/${String(this.#below(1_000_000))}` };
      case 2:
        return { raw: Buffer.from(this.#words(3)).toString('base64'), ...others };
      default:
        return { ...others, text: this.#words(2 + this.#below(20)) };
    }
  }

  #value(depth: number): unknown {
    switch (this.#below(depth > 0 ? 7 : 5)) {
      case 0:
        return this.#below(1_000_000);
      case 1:
        return this.#below(1_000_000) / 128;
      case 2:
        return this.#below(2) === 0;
      case 3:
      case 4:
        return this.#words(1 + this.#below(4));
      case 5:
        return Array.from({ length: 1 + this.#below(4) }, () => this.#value(depth - 1));
      default:
        return this.#object(depth - 1);
    }
  }

  #object(depth: number): object {
    return Object.fromEntries(Array.from({ length: 1 + this.#below(4) }, () => [NAMES[this.#below(NAMES.length)]!, this.#value(depth)]));
  }

  #words(count: number): string {
    const word = (): string => Array.from({ length: 1 + this.#below(4) }, () => SYLLABLES[this.#below(this.#syllables)]).join('');
    return Array.from({ length: count }, word).join(' ');
  }

  /** One or the other, so that the number of members differs too. */
  #maybe(members: object): object {
    return this.#below(2) === 0 ? members : {};
  }

  #below(bound: number): number {
    return this.#next() % bound;
  }

  /** The next of a sequence of numbers below 2^32 without visible order: a counter, well mixed. */
  #next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  }
}

/** The JSON of a result; `number` is also a value in it, so that no other event has the same bytes. */
export function mixedResult(number: number, taskId: string, contextId: string): string {
  return new Imagination(number).result(taskId, contextId);
}
