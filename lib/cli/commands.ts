/** The commands: what each takes, and where its code is. Code is loaded when it is run. */
import type { Session } from './session.js';
import type { GroupName } from './options.js';

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The arguments, as in the usage line. */
  readonly takes: string;
  readonly min: number;
  readonly max: number;
  readonly options: readonly GroupName[];
  /** What else there is to know, a paragraph each. */
  readonly details: readonly string[];
  /** Runs it. @returns the exit code */
  readonly load: () => Promise<(session: Session) => Promise<number>>;
}

const AGENT: readonly GroupName[] = ['target', 'card', 'headers', 'network', 'bounds', 'time'];
const STREAMING: readonly GroupName[] = ['target', 'card', 'headers', 'network', 'bounds', 'streamBounds', 'time'];
const TEXT = 'TEXT is one text, however many words it has; - reads it from stdin.';

export const COMMANDS: readonly Command[] = [
  {
    name: 'card',
    summary: "shows an agent's card, and which of its interfaces calls go to",
    takes: 'URL',
    min: 1,
    max: 1,
    options: ['output', 'card', 'target', 'headers', 'network', 'bounds', 'time'],
    details: [
      'URL is a base URL, or that of the card.',
      'With --json: {"url", "generation", "signedBy", "selected", "card"}, the card as it was sent.',
    ],
    load: async () => (await import('./commands/card.js')).card,
  },
  {
    name: 'send',
    summary: "sends a text and prints the answer's text",
    takes: 'URL TEXT...',
    min: 2,
    max: Infinity,
    options: ['output', 'message', ...AGENT],
    details: [
      TEXT,
      'The answer is waited for until the task has ended or needs something. Its text is that of a message, or of a completed task the text ' +
        'of its artifacts, else of its status. With --json: {"result"}, as it was sent.',
      'With --cancel-on-interrupt the task is looked at every second instead of waited for: only so its id is known while it goes on.',
    ],
    load: async () => (await import('./commands/send.js')).send,
  },
  {
    name: 'stream',
    summary: "sends a text and prints the answer's text as it arrives",
    takes: 'URL [TEXT...]',
    min: 1,
    max: Infinity,
    options: ['output', 'message', ...STREAMING],
    details: [
      TEXT,
      'Without TEXT, and with --task-id, nothing is sent: it goes on with the stream of that task.',
      'With --json: {"id", "result"} for each event, as it was sent; id is that of the event, where it has one.',
    ],
    load: async () => (await import('./commands/stream.js')).stream,
  },
  {
    name: 'get',
    summary: 'shows a task',
    takes: 'URL TASK-ID',
    min: 2,
    max: 2,
    options: ['output', 'get', ...AGENT],
    details: ['With --json: {"result"}, the task as it was sent.'],
    load: async () => (await import('./commands/get.js')).get,
  },
  {
    name: 'list',
    summary: 'lists tasks (A2A 1.0)',
    takes: 'URL',
    min: 1,
    max: 1,
    options: ['output', 'list', ...AGENT],
    details: ['One page; stderr says how to get the next. With --json: {"result"}, the page as it was sent.'],
    load: async () => (await import('./commands/list.js')).list,
  },
  {
    name: 'cancel',
    summary: 'asks an agent to cancel a task',
    takes: 'URL TASK-ID',
    min: 2,
    max: 2,
    options: ['output', ...AGENT],
    details: ['Prints the task as it then is. With --json: {"result"}, the task as it was sent.'],
    load: async () => (await import('./commands/cancel.js')).cancel,
  },
  {
    name: 'call',
    summary: 'calls any JSON-RPC method',
    takes: 'URL METHOD [PARAMS]',
    min: 2,
    max: 3,
    options: ['output', ...AGENT],
    details: [
      'PARAMS is a JSON object or list, - reads it from stdin. The result is I-JSON and nothing more: it is checked against no schema. It is ' +
        'printed indented, up to 256K; with --json: {"result"}, as it was sent.',
    ],
    load: async () => (await import('./commands/call.js')).call,
  },
  {
    name: 'check',
    summary: 'tells how an agent keeps the strict profile, before it is let in',
    takes: 'URL [--send [TEXT...]]',
    min: 1,
    max: Infinity,
    options: ['check', 'output', ...STREAMING],
    details: [
      'One line a rule: kept, broken (with what to tell the owner of the agent) or not exercised. Only harmless requests are sent (the card, ' +
        'tasks that there are none of, a page of the list of tasks, malformed requests), unless --send allows messages. The exit code is 1 if ' +
        'something is broken.',
      'With --json: {"check", "state", "rule", "says", "advice"} for each, and {"summary"} at the end.',
    ],
    load: async () => (await import('./commands/check.js')).check,
  },
  {
    name: 'demo',
    summary: 'starts a real agent on this machine, calls it, and shows what is refused',
    takes: '[TEXT...] | --serve PORT',
    min: 0,
    max: Infinity,
    options: ['demo'],
    details: ['Nothing leaves the machine. The exit code is 0 if all that it shows was proven.'],
    load: async () => (await import('./commands/demo.js')).demo,
  },
];
