/** Runs the command `tocsin`. */
import process from 'node:process';

import { runCommandLine } from '#entry/cli/run_command_line.ts';

await runCommandLine(process.argv.slice(2));
