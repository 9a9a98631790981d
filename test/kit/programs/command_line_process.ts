/** A process that runs calls of the command line one after the other, each with an environment and standard input of its own. */
import { Readable } from 'node:stream';

import { runCommandLine } from '#entry/cli/run_command_line.ts';

/** Sent by the parent. */
export interface Call {
  readonly id: number;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
}

/** The answer to a call. */
export interface Ended {
  readonly id: number;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let earlier: Promise<void> = Promise.resolve();
process.on('message', (call) => {
  earlier = earlier.then(async () => void process.send?.(await run(call as Call)));
});
process.once('disconnect', () => process.exit());

async function run({ id, args, env, input }: Call): Promise<Ended> {
  process.env = { ...env };
  process.exitCode = 0;
  Object.defineProperty(process, 'stdin', { value: Readable.from([input]), configurable: true });
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  try {
    await runCommandLine(args);
  } finally {
    stdout.end();
    stderr.end();
  }
  return { id, code: process.exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

/** Keeps what is written to this stream until `end`. */
function capture(stream: NodeJS.WriteStream) {
  const { write } = stream;
  let written = '';
  stream.write = (chunk: string | Uint8Array) => {
    written += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  };
  return { text: () => written, end: () => void (stream.write = write) };
}
