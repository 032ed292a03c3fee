#!/usr/bin/env node
/** The command `a2a-strict`. What an old Node cannot read is loaded by `run` alone. */
import { EXIT } from './exit_codes.js';
import { tooOld } from './node_version.js';
import { processIo } from './process_io.js';
import { run } from './run.js';

const complaint = tooOld(process.versions.node);
if (complaint === undefined) {
  process.exitCode = await run(process.argv.slice(2), processIo());
} else {
  process.stderr.write(`${complaint}\n`);
  process.exitCode = EXIT.usage;
}
