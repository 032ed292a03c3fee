/**
 * What each server is expected to do. Where it is not what the protocol asks for, the reason stands beside it: a server that mends its
 * ways is as much of a surprise as one that breaks something.
 */
import type { FailureRule, ProtocolVersion } from '../../lib/index.js';
import type { AgentName } from './agents.js';
import type { Report } from './matrix.js';
import { AS_ASKED } from './scenario.js';
import { TRAITS, type Traits } from './traits.js';

/** The steps that a server should answer with an error of its own. */
const ERROR_CODES: Readonly<Record<string, number | Readonly<Record<ProtocolVersion, number>>>> = {
  'a finished task cannot be canceled': -32002,
  'an unknown task, got': -32001,
  'an unknown task, canceled': -32001,
  'an unknown task, subscribed to': -32001,
  'an unknown method': -32601,
  'parameters of the wrong type': -32602,
  'a protocol version that does not exist': -32009,
  'the dialect that it does not speak': -32601,
  // 1.0 says that it is unsupported where the card does not announce one.
  'an extended card that there is none of': { '1.0': -32004, '0.3': -32007 },
};

/** How a step ends with a server that does what the protocol says. */
export function askedOf(step: string, dialect: ProtocolVersion): string {
  const error = ERROR_CODES[step];
  if (error === undefined) return AS_ASKED;
  return remoteError(typeof error === 'number' ? error : error[dialect]);
}

export interface Deviation {
  /** More than one: it is now this, now that. */
  readonly outcomes: readonly string[];
  readonly why: string;
}

type Deviations = Readonly<Record<string, Deviation>>;

interface Expected {
  readonly traits: Traits;
  readonly deviations: Deviations;
}

function remoteError(code: number): string {
  return `${'remote.error' satisfies FailureRule} ${code}`;
}

function refused(rule: FailureRule, why: string): Deviation {
  return { outcomes: [rule], why };
}

function answered(code: number, why: string): Deviation {
  return { outcomes: [remoteError(code)], why };
}

const JAVASCRIPT_TRAITS: Traits = {
  eventIds: 'optional',
  'event ids sent': '–',
  'event names': '–',
  'line ends': 'LF',
  comments: '–',
  'stream media type': 'text/event-stream',
  'result media type': 'application/json; charset=utf-8',
  'error media type': 'application/json; charset=utf-8',
  'error status': '200',
  'error data': 'google.rpc.ErrorInfo; none',
  'errors to stream requests': 'JSON',
  'answer to a deletion': 'a result',
  timestamps: 'ms, Z',
};

const PYTHON_TRAITS: Traits = {
  eventIds: 'optional',
  'event ids sent': '–',
  'event names': '–',
  'line ends': 'CRLF',
  comments: ': ping - <time>',
  'stream media type': 'text/event-stream; charset=utf-8',
  'result media type': 'application/json',
  'error media type': 'application/json',
  'error status': '200',
  'error data': 'a string; none; null',
  'errors to stream requests': 'plain event',
  'answer to a deletion': 'neither result nor error',
  timestamps: 'µs, Z',
};

const GO_TRAITS: Traits = {
  eventIds: 'required',
  'event ids sent': 'UUIDs',
  'event names': '–',
  'line ends': 'LF',
  comments: '–',
  'stream media type': 'text/event-stream',
  'result media type': 'text/plain; charset=utf-8',
  'error media type': 'text/plain; charset=utf-8',
  'error status': '200',
  'error data': 'an object; none',
  'errors to stream requests': 'plain event',
  'answer to a deletion': 'an empty body',
  timestamps: 'ns, Z',
};

const SILENT = refused(
  'deadline.idle',
  'It writes nothing while the agent is quiet: the clocks of callers and proxies must be longer than that.',
);
const UNSUPPORTED_CARD = answered(-32004, 'It answers as in 1.0.');
const KEPT_HISTORY: Deviation = {
  outcomes: ['wrong: the history came all the same'],
  why: 'It takes a history length of 0 for none given.',
};

const COERCED = answered(-32001, 'It takes the number for its digits, and knows no such task.');
const BREAKS_WITH_ERROR = answered(-32603, 'An error of the agent is answered as one of the server; the task is not told to have failed.');
const PYTHON_BREAKS: Deviations = {
  'an agent that breaks, sent': BREAKS_WITH_ERROR,
  'an agent that breaks, streamed': BREAKS_WITH_ERROR,
};

const GO: Deviations = {
  'a quiet stream through an idle proxy': SILENT,
  'parameters of the wrong type': answered(-32700, 'It calls parameters of the wrong type unreadable JSON.'),
  'an agent that breaks, sent': BREAKS_WITH_ERROR,
  'an agent that breaks, streamed': BREAKS_WITH_ERROR,
};

const NO_ANSWER = refused('http.content_type', 'It answers with nothing at all, not even JSON.');
const UNTYPED_ERROR = refused('http.content_type', 'In 1.0, an error as plain text does not count.');
const NO_MEDIA_TYPE = refused('http.content_type', 'It names no media type, and net/http guesses text/plain from the body.');

export const EXPECTED: Readonly<Record<AgentName, Readonly<Partial<Record<ProtocolVersion, Expected>>>>> = {
  JavaScript: {
    '1.0': {
      traits: JAVASCRIPT_TRAITS,
      deviations: {
        'a quiet stream through an idle proxy': SILENT,
        'parameters of the wrong type': COERCED,
      },
    },
    '0.3': {
      traits: { ...JAVASCRIPT_TRAITS, 'event names': 'error', 'error data': 'none', 'errors to stream requests': 'event named error' },
      deviations: {
        'a quiet stream through an idle proxy': SILENT,
        'parameters of the wrong type': answered(-32603, 'It fails where it reads the number as a string.'),
        'an extended card that there is none of': UNSUPPORTED_CARD,
      },
    },
  },
  Python: {
    '1.0': {
      traits: {
        ...PYTHON_TRAITS,
        'event names': 'error',
        'error data': 'google.rpc.ErrorInfo; none',
        'errors to stream requests': 'JSON; event named error',
        'answer to a deletion': 'a result',
      },
      deviations: PYTHON_BREAKS,
    },
    '0.3': {
      traits: PYTHON_TRAITS,
      deviations: {
        ...PYTHON_BREAKS,
        'a task without its history, got': KEPT_HISTORY,
        'parameters of the wrong type': answered(-32600, 'It calls the whole request invalid.'),
        'an extended card that there is none of': UNSUPPORTED_CARD,
      },
    },
  },
  'Python, older': {
    '0.3': {
      traits: { ...PYTHON_TRAITS, 'error data': 'a list; none', timestamps: 'µs, +00:00' },
      deviations: {
        'a task without its history, got': KEPT_HISTORY,
        'a task that is canceled': refused(
          'deadline.total',
          'Its streams are not told that the task was canceled, and stay open: only a clock ends them.',
        ),
        'a running task, subscribed to': refused('deadline.total', 'As its other streams, this is not told of the end.'),
        'a stream broken off, and come back to': refused('stream.incomplete', 'It closes the stream of a canceled task without a word.'),
        'an extended card that there is none of': answered(-32603, 'It calls this an error of its own.'),
        'an agent that breaks, sent': BREAKS_WITH_ERROR,
        'an agent that breaks, streamed': refused('http.truncated', 'It drops the connection in the midst of the stream.'),
      },
    },
  },
  Go: {
    '0.3': {
      traits: GO_TRAITS,
      deviations: {
        ...GO,
        'a task, sent': NO_MEDIA_TYPE,
        'a message, sent': NO_MEDIA_TYPE,
        'an answer that does not wait for the end': NO_MEDIA_TYPE,
        'input required and given, sent': NO_MEDIA_TYPE,
        'a task that is canceled': NO_MEDIA_TYPE,
        'a task, got': NO_MEDIA_TYPE,
        'a task without its history, got': NO_MEDIA_TYPE,
        'a push config, created': NO_MEDIA_TYPE,
        'a push config, got': NO_MEDIA_TYPE,
        'push configs, listed': NO_MEDIA_TYPE,
        'no push configs, listed': NO_MEDIA_TYPE,
        'a push config, deleted': NO_ANSWER,
        'the dialect that it does not speak': UNTYPED_ERROR,
      },
    },
  },
  'Go, plain text allowed': {
    '0.3': {
      traits: GO_TRAITS,
      deviations: {
        ...GO,
        'a push config, deleted': NO_ANSWER,
        'the dialect that it does not speak': UNTYPED_ERROR,
      },
    },
  },
  Java: {
    '0.3': {
      traits: {
        eventIds: 'sequential',
        'event ids sent': 'numbers',
        'event names': '–',
        'line ends': 'LF',
        comments: '–',
        'stream media type': 'text/event-stream',
        'result media type': 'application/json',
        'error media type': 'application/json',
        'error status': '200',
        'error data': 'none',
        'errors to stream requests': 'plain event',
        'answer to a deletion': 'a result',
        timestamps: 'ns, Z',
      },
      deviations: {
        'a quiet stream through an idle proxy': SILENT,
        'a task without its history, got': KEPT_HISTORY,
        'parameters of the wrong type': COERCED,
        'an agent that breaks, sent': BREAKS_WITH_ERROR,
        'an agent that breaks, streamed': {
          outcomes: [remoteError(-32603), 'stream.incomplete' satisfies FailureRule],
          why: 'It answers with an error of its own, or closes the stream before it has.',
        },
      },
    },
  },
};

/** What a report says otherwise than expected; none: all is as it should be. */
export function differences({ agent, dialect, outcomes, traits }: Report): string[] {
  const expected = EXPECTED[agent][dialect];
  if (expected === undefined) return [`${agent} in ${dialect}: nothing is known of it`];
  const told: string[] = [];
  for (const { step, outcome } of outcomes) {
    const due = expected.deviations[step]?.outcomes ?? [askedOf(step, dialect)];
    if (!due.includes(outcome)) told.push(`${agent} in ${dialect}: ${step}: ${outcome}, where ${due.join(' or ')} was expected`);
  }
  for (const trait of TRAITS) {
    if (traits[trait] !== expected.traits[trait]) {
      told.push(`${agent} in ${dialect}: ${trait}: ${traits[trait]}, where ${expected.traits[trait]} was expected`);
    }
  }
  return told;
}
