import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

import { AppError } from '#kernel/errors.ts';

/**
 * Reads a password that must not be in the arguments, which every user of the machine can see: typed at a prompt that
 * does not show it, or the first line of standard input. Throws `invalid_input` if there is none.
 */
export async function readPassword(): Promise<string> {
  const { stdin, stderr } = process;
  const isTyped = stdin.isTTY;
  if (isTyped) stderr.write('Password: ');
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: unseen, terminal: isTyped });
  try {
    for await (const line of lines) if (line !== '') return line;
  } finally {
    lines.close();
    if (isTyped) stderr.write('\n');
  }
  throw new AppError(
    'invalid_input',
    'give the password by standard input, or run the command at a terminal to type it',
  );
}
