/** Reading a stream of text to its end. */
import { Failure } from '../../lib/index.js';

export interface ReadText {
  readonly chunks: string[];
  readonly failure: Failure | undefined;
}

export async function readAll(stream: AsyncIterable<string>): Promise<ReadText> {
  const chunks: string[] = [];
  try {
    for await (const chunk of stream) chunks.push(chunk);
  } catch (failure) {
    if (failure instanceof Failure) return { chunks, failure };
    throw failure;
  }
  return { chunks, failure: undefined };
}
