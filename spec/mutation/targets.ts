/** What is mutated, and the tests that are to notice, fastest first. */

export interface Target {
  readonly file: string;
  readonly tests: readonly string[];
  /** Tests that wait, measure time or start processes of their own (which do not see the mutant), by their names. */
  readonly skip?: RegExp;
}

const CHECKS = 'spec/mutation/checks';
const GAPS = 'spec/mutation/gaps.test.ts';
const TIMING = /linear|quadratic|times as long|[Tt]ime is|Time\b|look at a line, or copy it|Three thousand streams|A thousand accepted/;

export const TARGETS: readonly Target[] = [
  { file: 'lib/wire/json.ts', tests: ['spec/json.test.ts', GAPS, `${CHECKS}/json.ts`, `${CHECKS}/corpus.ts`], skip: TIMING },
  { file: 'lib/wire/json_value.ts', tests: ['spec/json.test.ts', `${CHECKS}/json.ts`, `${CHECKS}/corpus.ts`], skip: TIMING },
  { file: 'lib/wire/sse.ts', tests: [GAPS, `${CHECKS}/sse.ts`, `${CHECKS}/corpus.ts`, 'spec/stream/sse.test.ts'], skip: TIMING },
  { file: 'lib/wire/event_ids.ts', tests: ['spec/stream/event_ids.test.ts', `${CHECKS}/sse.ts`], skip: TIMING },
  { file: 'lib/wire/jsonrpc.ts', tests: [GAPS, `${CHECKS}/json.ts`, `${CHECKS}/corpus.ts`, 'spec/request.test.ts'], skip: TIMING },
  { file: 'lib/wire/lifecycle.ts', tests: [`${CHECKS}/corpus.ts`, 'spec/stream/lifecycle.test.ts', `${CHECKS}/answers.ts`], skip: TIMING },
  { file: 'lib/failure.ts', tests: [GAPS, 'spec/failure.test.ts', `${CHECKS}/corpus.ts`], skip: /does not catch/ },
  {
    file: 'lib/wire/http.ts',
    tests: [GAPS, `${CHECKS}/corpus.ts`, 'spec/hostile/http_head.test.ts', 'spec/hostile/dispatchers.test.ts', `${CHECKS}/answers.ts`],
    skip: TIMING,
  },
  { file: 'lib/wire/dispatcher.ts', tests: [GAPS, 'spec/options.test.ts', 'spec/hostile/dispatchers.test.ts'], skip: TIMING },
  { file: 'lib/wire/raw_headers.ts', tests: [GAPS, 'spec/hostile/dispatchers.test.ts', 'spec/hostile/http_head.test.ts'], skip: TIMING },
  { file: 'lib/wire/signal.ts', tests: ['spec/options.test.ts', 'spec/hostile/clocks.test.ts'], skip: TIMING },
  {
    file: 'lib/wire/exchange.ts',
    tests: [
      `${CHECKS}/answers.ts`,
      'spec/interceptor.test.ts',
      'spec/hostile/http_head.test.ts',
      'spec/hostile/delivery.test.ts',
      'spec/hostile/dispatchers.test.ts',
      'spec/hostile/clocks.test.ts',
      'spec/stream/endings.test.ts',
    ],
    // Two of them need more of the processor than a run with low priority may get.
    skip: new RegExp(`${TIMING.source}|hundred streams|each of its stages|process`),
  },
];
