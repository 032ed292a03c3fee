/** `--help`. */
import { COMMANDS, type Command } from './commands.js';
import { EXIT_CODES } from './exit_codes.js';
import { OPTION_GROUPS, type OptionSpec } from './options.js';

const WIDTH = 100;

/** The help of one command, or of all. */
export function help(command: Command | undefined): string {
  return `${(command === undefined ? general() : ofCommand(command)).join('\n')}\n`;
}

function general(): string[] {
  return [
    'Usage: a2a-strict COMMAND URL [options]',
    '',
    'Talks to A2A (Agent2Agent) agents over the strict transport: the exact answer, or one failure that is named.',
    '',
    'Commands:',
    ...rows(COMMANDS.map(({ name, summary }) => [name, summary])),
    '',
    'URL:',
    ...rows([
      ['http(s)://…', 'a base URL: the card below it says where calls go, and in which dialect'],
      ['http(s)://… --exact', 'the exact JSON-RPC endpoint, dialect 1.0 unless --dialect says otherwise'],
      ['a2a://HOST:PORT', 'the exact endpoint http://HOST:PORT/invoke; a2as:// is https://'],
    ]),
    '',
    'Exit codes:',
    ...rows(EXIT_CODES.map(([code, means]) => [String(code), means])),
    '',
    ...wrap(
      "An agent's words are printed with control characters made visible. Colours and progress are for terminals; NO_COLOR turns colours off.",
    ),
    '',
    'a2a-strict COMMAND --help shows the options of a command, a2a-strict --version the version.',
  ];
}

function ofCommand({ name, takes, summary, details, options }: Command): string[] {
  const groups = options.map((group) => OPTION_GROUPS[group]);
  return [
    `Usage: a2a-strict ${name}${takes === '' ? '' : ` ${takes}`}${groups.length === 0 ? '' : ' [options]'}`,
    '',
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...details.flatMap((paragraph) => ['', ...wrap(paragraph)]),
    ...groups.flatMap(({ title, options: ofGroup }) => [
      '',
      `${title}:`,
      ...rows(Object.entries<OptionSpec>(ofGroup).map(([option, spec]) => [usageOf(option, spec), spec.help])),
    ]),
    ...(groups.length === 0 ? [] : ['', 'Words that begin with - go after --. a2a-strict --help tells what URL may be, and the exit codes.']),
  ];
}

function usageOf(name: string, { short, value }: OptionSpec): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
}

/** Terms and what they mean, in two columns. */
function rows(terms: readonly (readonly [term: string, means: string])[]): string[] {
  const indent = Math.min(Math.max(...terms.map(([term]) => term.length)) + 4, 28);
  return terms.flatMap(([term, means]) => {
    const lines = wrap(means, WIDTH - indent).map((line) => ' '.repeat(indent) + line);
    const head = `  ${term}`;
    return head.length + 2 > indent ? [head, ...lines] : [head.padEnd(indent) + (lines[0] ?? '').trimStart(), ...lines.slice(1)];
  });
}

function wrap(text: string, width = WIDTH): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line];
}
