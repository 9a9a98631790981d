import type { Command } from 'commander';

import { secretArgument } from '#entry/cli/text.ts';
import { loadConfig } from '#entry/config.ts';
import { ALERTS_PATH } from '#kernel/api_paths.ts';
import { messageOf } from '#kernel/errors.ts';

interface WantedAlertMail {
  readonly name?: string;
  readonly url?: string;
}

/** Exit codes that mail servers know (`sysexits.h`): try again, and final ones for the mail and for its address. */
const EXIT = { again: 75, data: 65, address: 67 } as const;

const ANSWER_MS_MAX = 60_000;
/** A longer mail is refused; a mail server must not fill the memory with it before. */
const BYTES_MAX = 1024 * 1024;

/** Adds the command that runs for each mail, so that it loads little: nothing of the stores. */
export function addAlertMailCommand(program: Command): void {
  program
    .command('alert-mail')
    .description('take a mail with an alert from standard input, as the pipe of a mail server')
    .argument('<key>', 'the alert key, or @FILE with a file that holds it, which ps does not show', secretArgument)
    .option('--name <name>', 'which of several tools of the service wrote it')
    .option('--url <url>', 'address of the API; BASE_URL by default')
    .action(async (key: string, { name, url = loadConfig().baseUrl }: WantedAlertMail) => {
      const parts = [url.replace(/\/+$/, ''), ALERTS_PATH, '/mail/', encodeURIComponent(key)];
      if (name !== undefined) parts.push('/', encodeURIComponent(name));
      const { code, says } = await postMail(parts.join(''), process.stdin);
      if (code !== 0) process.stderr.write(`${says}\n`);
      process.exitCode = code;
    });
}

/** Sends a mail; returns the exit code for the mail server, and a sentence. */
export async function postMail(
  address: string,
  mail: AsyncIterable<Buffer>,
): Promise<{ readonly code: number; readonly says: string }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of mail) {
    size += chunk.length;
    if (size > BYTES_MAX) return { code: EXIT.data, says: 'the mail is longer than 1 MiB' };
    chunks.push(chunk);
  }
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'message/rfc822' },
      body: Buffer.concat(chunks),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const says = `${response.status}: ${(await response.text()).slice(0, 500)}`;
    return { code: exitCodeOf(response.status), says };
  } catch (error) {
    return { code: EXIT.again, says: `the API does not answer: ${messageOf(error)}` };
  }
}

function exitCodeOf(status: number): number {
  if (status < 300) return 0;
  if (status === 400 || status === 413 || status === 422) return EXIT.data;
  if (status === 401 || status === 403 || status === 404) return EXIT.address;
  return EXIT.again;
}
