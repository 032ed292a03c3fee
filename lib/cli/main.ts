#!/usr/bin/env node
/** The command `a2a-strict`. What an old Node cannot read is loaded by `run` alone. */
import { EXIT } from './exit_codes.js';
import { tooOld } from './node_version.js';
import { processIo } from './process_io.js';
import { run } from './run.js';

const complaint = tooOld(process.versions.node);
if (complaint === undefined) {
  const code = await run(process.argv.slice(2), processIo());
  process.exitCode = code;
  // What was printed has been written. A connection that was still being made, and after Ctrl-C a reader that takes nothing, keep nobody here.
  process.stderr.write('', () => process.exit(code));
} else {
  process.stderr.write(`${complaint}\n`);
  process.exitCode = EXIT.usage;
}
