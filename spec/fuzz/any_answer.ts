/** Whatever an agent answers, the call ends in a value or a `Failure`, and in the same however the bytes were cut. */
import assert from 'node:assert/strict';
import { answerCases, type AnswerCase } from './arbitraries_answer.js';
import { chunksOf } from './arbitraries_bytes.js';
import { verdictOfAnswer, type Verdict } from './memory_agent.js';
import { property, type Property } from './runner.js';
import { settles } from './settles.js';

type Cut = (body: Buffer) => readonly Buffer[];

/** What a call makes of the body in such chunks. */
export type Judge = (answer: AnswerCase, cut: Cut, pace: number) => Promise<Verdict>;

const client: Judge = ({ operation, policy, status, headers, body, ending }, cut, pace) =>
  settles(verdictOfAnswer(operation, policy, { status, headers, body, cut, ending, pace }));

const whole: Cut = (body) => [body];
const singly: Cut = (body) => Array.from(body, (_, at) => body.subarray(at, at + 1));

const LAYERS = ['http', 'limit', 'sse', 'json', 'jsonrpc', 'remote', 'a2a', 'stream'];

export function anyAnswerEnds(judge: Judge = client): Property {
  return property({
    name: 'Any bytes in answer to any operation, in any chunks, repeats recognised or not, end in one and the same value or failure',
    batch: 100,
    outcomes: ['value', 'events', ...LAYERS],
    cases: answerCases,
    check: async (answer) => {
      const expected = await judge(answer, whole, 0);
      const cut: Cut = (body) => chunksOf(body, answer.sizes);
      assert.deepEqual(await judge(answer, cut, 0), expected);
      assert.deepEqual(await judge({ ...answer, policy: { ...answer.policy, repeatRecognition: false } }, cut, 2), expected);
      assert.deepEqual(await judge(answer, singly, 1), expected);
      const { items, failure } = expected;
      return [failure === undefined ? 'value' : String(failure.rule).split('.')[0]!, ...(items.length > 1 ? ['events'] : [])];
    },
  });
}
