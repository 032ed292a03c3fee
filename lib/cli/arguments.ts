/** The command line → a command, its arguments and its options. */
import { parseArgs } from 'node:util';
import { COMMANDS, type Command } from './commands.js';
import { Given } from './given.js';
import { OPTION_GROUPS, optionsOf, type OptionSpec } from './options.js';
import { UsageError } from './usage_error.js';

/** What was asked for. */
export type Asked =
  | { readonly kind: 'help'; readonly command: Command | undefined }
  | { readonly kind: 'version' }
  | { readonly kind: 'run'; readonly command: Command; readonly words: readonly string[]; readonly given: Given };

/** @throws {UsageError} */
export function parse(argv: readonly string[]): Asked {
  const [first, ...rest] = argv;
  if (first === undefined) throw new UsageError('no command is given');
  if (first === '--version') return { kind: 'version' };
  if (first === '--help' || first === '-h') return { kind: 'help', command: undefined };
  if (first === 'help') return { kind: 'help', command: rest[0] === undefined ? undefined : commandOf(rest[0]) };
  const command = commandOf(first);
  const { values, positionals } = read(command, rest);
  if (values['help'] === true) return { kind: 'help', command };
  if (positionals.length < command.min || positionals.length > command.max) {
    throw new UsageError(`${command.name} takes ${command.takes === '' ? 'no arguments' : command.takes}`);
  }
  return { kind: 'run', command, words: positionals, given: new Given(values) };
}

function commandOf(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  // What is not a word may be anything, given by mistake.
  throw new UsageError(/^[a-z-]{1,20}$/.test(name) ? `there is no command ${name}` : 'the first argument is no command');
}

function read(command: Command, args: readonly string[]): { values: Readonly<Record<string, unknown>>; positionals: readonly string[] } {
  const specs: Record<string, OptionSpec> = { ...optionsOf(command.options), help: OPTION_GROUPS.output.options.help };
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { type, short, multiple = false }]) => [name, { type, multiple, ...(short !== undefined && { short }) }]),
  );
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(reasonOf(error));
  }
}

/** The first sentence of what Node says: it names the option, and no value. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const [first = ''] = message.split(/\.(?:\s|$)|\n/);
  return /^Option /.test(first) ? first.replace(/^Option/, 'the option') : first.replace(/^Unknown option/, 'there is no option');
}
