import type { Config } from '#entry/config.ts';
import { ConfigError } from '#kernel/config.ts';
import { AppError, messageOf } from '#kernel/errors.ts';
import { retry } from '#kernel/retry.ts';

/** Something a person can mend: a wrong call, a wrong setting, a place that is taken. */
export const WRONG_CALL = 2;

/** The status of a program that ends with this error. */
export function exitCodeFor(error: unknown): number {
  return error instanceof AppError || error instanceof ConfigError ? WRONG_CALL : 1;
}

/** With this argument a process loads its modules and then waits for a message of its supervisor. */
export const WAIT_ARGUMENT = '--wait';

/** Runs a process of the product. A fault that an operator can fix is printed as a sentence without a stack, with exit status 2. */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  try {
    if (process.argv.includes(WAIT_ARGUMENT)) await new Promise((resolve) => process.once('message', resolve));
    await main();
  } catch (error) {
    const code = exitCodeFor(error);
    const text = code === WRONG_CALL || !(error instanceof Error) ? messageOf(error) : (error.stack ?? error.message);
    process.stderr.write(`tocsin: ${text}\n`);
    process.exit(code);
  }
}

/**
 * Throws a ConfigError when a setting does not fit what is there. A store that does not answer may be starting beside us
 * and is waited for, for 30 s. Where a supervisor has started this process, it has looked already.
 */
export async function awaitStores(config: Config, { listens }: { listens: boolean }): Promise<void> {
  if (process.send !== undefined) return;
  // Loads the clients of every store, of which a pager needs none but PostgreSQL's.
  const { findPreflightFaults } = await import('#entry/preflight.ts');
  let isAnnounced = false;
  const check = async (): Promise<void> => {
    const faults = await findPreflightFaults(config, { listens });
    if (faults.length === 0) return;
    const sentences = faults.map(({ sentence }) => sentence);
    if (faults.some(({ mayPass }) => !mayPass)) throw new ConfigError(sentences);
    if (!isAnnounced) process.stderr.write(`tocsin: waiting for up to 30 s: ${sentences.join('; ')}\n`);
    isAnnounced = true;
    throw new StoresAway(sentences);
  };
  await retry(check, {
    mayRetry: (error) => error instanceof StoresAway,
    pauseMs: 500,
    timeoutMs: 30_000,
  });
}

/** No store that does not answer is wrongly configured for sure: each may be starting. */
class StoresAway extends ConfigError {}
