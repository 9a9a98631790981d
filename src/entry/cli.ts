/** Runs the command `tocsin`. */
import process from 'node:process';

// Every user of the machine can see arguments: a password among them is overwritten before anything else is loaded.
if (process.argv.some((argument) => argument.startsWith('--password'))) process.title = 'tocsin';
const { runCommandLine } = await import('#entry/cli/run_command_line.ts');

await runCommandLine(process.argv.slice(2));
