/** One command line, from its words to an exit code. */
import { Failure } from '../failure.js';
import { parse, type Asked } from './arguments.js';
import { COMMANDS } from './commands.js';
import { EXIT, EXIT_OF_KIND, EXIT_OF_SIGNAL } from './exit_codes.js';
import { help } from './help.js';
import { Interruption } from './interruption.js';
import type { Io } from './io.js';
import { Output, OutputClosed } from './output.js';
import { safeLine } from './sanitize.js';
import { UsageError } from './usage_error.js';
import { packageVersion } from './version.js';

/** Runs a command line; never throws. @returns the exit code */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  let asked: Asked | undefined;
  try {
    asked = parse(argv);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    new Output(io, false).note(usageText(error, COMMANDS.find(({ name }) => name === argv[0])?.name));
    return EXIT.usage;
  }
  const output = new Output(io, asked.kind === 'run' && asked.given.flag('json') === true);
  try {
    if (asked.kind === 'help') await output.write(help(asked.command));
    else if (asked.kind === 'version') await output.line(packageVersion());
    else return await runCommand(asked, io, output);
    return EXIT.ok;
  } catch (error) {
    return await exitCodeOf(error, output, asked);
  } finally {
    output.clear();
  }
}

async function runCommand({ command, words, given }: Asked & { kind: 'run' }, io: Io, output: Output): Promise<number> {
  const interruption = new Interruption();
  const { signal } = interruption;
  output.endWith(signal);
  const stopListening = io.onInterrupt((by) => {
    interruption.interrupt(by);
  });
  try {
    const act = await command.load();
    const code = await act({ io, output, given, words, interruption, signal });
    return interruption.received === undefined ? code : EXIT_OF_SIGNAL[interruption.received];
  } catch (error) {
    // Whatever it ended with, it is the user who ended it.
    if (interruption.received === undefined || error instanceof OutputClosed) throw error;
    await output.endLine();
    return EXIT_OF_SIGNAL[interruption.received];
  } finally {
    await interruption.settled();
    stopListening();
  }
}

async function exitCodeOf(error: unknown, output: Output, asked: Asked): Promise<number> {
  if (error instanceof OutputClosed) return EXIT.ok;
  if (error instanceof UsageError) {
    output.note(usageText(error, asked.kind === 'run' ? asked.command.name : undefined));
    return EXIT.usage;
  }
  if (error instanceof Failure) {
    try {
      const { report } = await import('./failure_report.js');
      await report(output, error);
    } catch (closed) {
      if (!(closed instanceof OutputClosed)) throw closed;
    }
    return EXIT_OF_KIND[error.kind];
  }
  output.note(`a2a-strict: an error of its own: ${safeLine(String(error))}`, 'red');
  return EXIT.internal;
}

function usageText({ message }: UsageError, command: string | undefined): string {
  return `a2a-strict: ${safeLine(message)}\n  hint: a2a-strict ${command === undefined ? '' : `${command} `}--help`;
}
