/** Every option of the command line, in the groups in which commands take them and `--help` shows them. */

export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  /** May be given more than once. */
  readonly multiple?: true;
  readonly short?: string;
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly help: string;
}

const flag = (help: string): OptionSpec => ({ type: 'boolean', help });
const text = (value: string, help: string): OptionSpec => ({ type: 'string', value, help });
const list = (value: string, help: string, short?: string): OptionSpec => ({
  type: 'string',
  multiple: true,
  value,
  help,
  ...(short !== undefined && { short }),
});

export const OPTION_GROUPS = {
  output: {
    title: 'Output',
    options: {
      json: flag("one JSON value a line; the agent's JSON is in it byte for byte, but for line breaks, which become spaces"),
      help: { type: 'boolean', short: 'h', help: 'show this, and do nothing' } satisfies OptionSpec,
    },
  },
  message: {
    title: 'Message',
    options: {
      'task-id': text('ID', 'the task that the text goes on with'),
      'context-id': text('ID', 'the context that the text belongs to'),
      'cancel-on-interrupt': flag('Ctrl-C cancels the task before it ends the command'),
    },
  },
  list: {
    title: 'Which tasks',
    options: {
      'context-id': text('ID', 'of this context alone'),
      state: text('STATE', 'in this state alone: submitted, working, completed, failed, canceled, input-required, rejected, auth-required'),
      'page-size': text('N', 'so many at most'),
      'page-token': text('TOKEN', 'the page after another, which has told its token'),
    },
  },
  get: { title: 'Task', options: { history: text('N', 'how many of the latest messages to show (default: 0)') } },
  check: {
    title: 'Check',
    options: { send: flag('messages may be sent too: three, of TEXT or else of "Hello", one of them to be canceled') },
  },
  demo: {
    title: 'Demonstration',
    options: { serve: text('PORT', 'only runs the agent, on that port of this machine, until it is interrupted; 0 for any port') },
  },
  target: {
    title: 'Target',
    options: {
      exact: flag('URL is the exact JSON-RPC endpoint, not a base URL: no card is fetched'),
      dialect: text('D', "1.0 or 0.3; with --exact also probe, which asks the agent (default: the card's; with --exact 1.0)"),
      tenant: text('T', 'with --exact or a2a: the tenant, in every request'),
      extension: list('URI', 'asks for an extension (from a card: if it lists it); may be repeated'),
      'allow-cross-origin-interfaces': flag('the card may send calls to another origin than its own'),
    },
  },
  card: {
    title: 'Agent card',
    options: {
      'card-path': text('PATH', 'path of the card on the origin of URL (default: the well-known path below URL)'),
      'allow-legacy-card-path': flag('after a 404, try /.well-known/agent.json'),
      jwks: text('FILE', 'a JWK set; the signatures of the card are held against its public keys'),
      'require-signature': flag('with --jwks: refuse a card that is not signed'),
    },
  },
  headers: {
    title: 'Headers',
    options: {
      header: list(
        "'NAME: VALUE'|@FILE",
        'adds a header, or those in FILE, one a line. What is on the command line, every user of the machine can see: credentials are better ' +
          'given by a file or the environment. May be repeated',
        'H',
      ),
      'header-env': list('NAME=VARIABLE', 'adds a header whose value is that of an environment variable; may be repeated'),
      'allow-cleartext-credentials': flag(
        'credentials may travel over http: to another machine. Credentials are Authorization, Cookie, Proxy-Authorization, and every header ' +
          'from a file or the environment',
      ),
    },
  },
  network: {
    title: 'Network and TLS',
    options: {
      network: text('WHICH', 'which addresses may be connected to: any, public or loopback (default: any)'),
      ca: text('FILE', "certificate authorities to trust, in PEM, in place of Node's own"),
      cert: text('FILE', 'client certificate, in PEM; goes with --key'),
      key: text('FILE', 'private key of --cert, in PEM'),
    },
  },
  bounds: {
    title: 'Bounds, in bytes: a number, or one with K, M or G (1024, …)',
    options: {
      'max-card-bytes': text('N', 'of the card (default: 256K)'),
      'max-request-bytes': text('N', 'of the request (default: none)'),
      'max-response-bytes': text('N', 'of an answer that is no stream (default: 8M)'),
    },
  },
  streamBounds: {
    title: 'Streams',
    options: {
      'max-event-bytes': text('N', 'bytes of one event (default: 1M)'),
      'max-stream-bytes': text('N', 'bytes of a whole stream (default: 64M)'),
      'max-stream-events': text('N', 'events of a whole stream (default: none)'),
      'event-ids': text('MODE', 'optional, required or sequential (default: optional, as official servers send none)'),
    },
  },
  time: {
    title: 'Clocks: a number with ms, s, m or h, or none',
    options: {
      timeout: text('T', 'of the whole call, the card included (default: 30s; send and stream: none; a message of check: 5m)'),
      'connect-timeout': text('T', 'until the request can be written (default: 30s)'),
      'idle-timeout': text('T', 'of silence (default: 5m)'),
    },
  },
} as const satisfies Record<string, { readonly title: string; readonly options: Readonly<Record<string, OptionSpec>> }>;

export type GroupName = keyof typeof OPTION_GROUPS;

type OptionsOf<G> = G extends GroupName ? keyof (typeof OPTION_GROUPS)[G]['options'] : never;

export type OptionName = OptionsOf<GroupName>;

/** The options of some groups, by name. */
export function optionsOf(groups: readonly GroupName[]): Record<string, OptionSpec> {
  return Object.assign({}, ...groups.map((name) => OPTION_GROUPS[name].options)) as Record<string, OptionSpec>;
}
