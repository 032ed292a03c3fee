/** What the demonstration prints, and how much of it was proven. */
import type { Output } from '../output.js';

export class Report {
  readonly output: Output;
  readonly #signal: AbortSignal;
  #passed = 0;
  #failed = 0;

  /** @param signal ends the demonstration */
  constructor(output: Output, signal: AbortSignal) {
    this.output = output;
    this.#signal = signal;
  }

  async title(text: string): Promise<void> {
    await this.output.line(`\n${this.output.style('bold', text)}`);
  }

  async field(name: string, value: string): Promise<void> {
    await this.output.line(`${this.output.style('bold', name)}${' '.repeat(7 - name.length)}${value}`);
  }

  /** One thing to prove: `prove` gives the words for what it has proven, or throws. */
  async check(name: string, prove: () => Promise<string>): Promise<void> {
    let mark = this.output.style('green', '✓');
    let words: string;
    try {
      words = await prove();
      this.#passed++;
    } catch (error) {
      this.#signal.throwIfAborted();
      mark = this.output.style('red', '✗');
      words = error instanceof Error ? error.message : String(error);
      this.#failed++;
    }
    await this.output.line(`  ${mark} ${name.padEnd(21)} ${words}`);
  }

  /** @returns whether all of it was proven */
  async conclude(): Promise<boolean> {
    const all = String(this.#passed + this.#failed);
    await this.output.line(`\n${this.#failed === 0 ? `All ${all} checks passed.` : `${String(this.#failed)} of ${all} checks failed.`}`);
    return this.#failed === 0;
  }
}
