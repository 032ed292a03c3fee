/** `npm start -- "any text"`: what `a2a-strict demo` shows, from the sources. */
import { processIo } from '../../lib/cli/process_io.js';
import { run } from '../../lib/cli/run.js';

process.exitCode = await run(['demo', '--', ...process.argv.slice(2)], processIo());
