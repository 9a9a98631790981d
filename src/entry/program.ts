import type { Config } from './config.ts';
import { ConfigError } from '#kernel/config.ts';
import { AppError, messageOf } from '#kernel/errors.ts';
import { retry } from '#kernel/promises.ts';

/** Exit code of an error that a person can fix: a wrong call, a wrong setting, a port in use. */
export const WRONG_CALL = 2;

/** Returns the exit status of a program that ends with this error. */
export function exitCodeFor(error: unknown): number {
  return error instanceof AppError || error instanceof ConfigError ? WRONG_CALL : 1;
}

/** Argument that makes a process load its modules and then wait for a message of its supervisor. */
export const WAIT_ARGUMENT = '--wait';

/** Runs a process of the product. A fault that an operator can fix is printed without a stack, with exit status 2. */
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

/** Asks the supervisor of this process for the port that it is about to listen on, where a page says that it is starting. */
export async function takePort(): Promise<void> {
  if (!process.argv.includes(WAIT_ARGUMENT)) return;
  const free = new Promise((resolve) => process.once('message', resolve));
  process.send?.({ wantsPort: true });
  await free;
}

/** Longest wait for a store that does not answer: longer than a failover takes. */
const STORES_WAIT_MS_MAX = 300_000;
const PAUSE_MS_MAX = 5_000;

interface Needs {
  readonly listens: boolean;
  /** Whether it creates what is missing in the stores. */
  readonly migrates?: boolean;
  /** Whether ClickHouse is required. Without it people can still answer incidents and be paged. */
  readonly needsClickHouse: boolean;
}

/**
 * Waits for the stores. Throws a ConfigError if a setting does not fit its environment. A store that does not answer
 * may be starting, or failing over, and is retried with backoff. If a supervisor has started this process, it has
 * checked already.
 */
export async function awaitStores(
  config: Config,
  { listens, migrates = false, needsClickHouse }: Needs,
): Promise<void> {
  if (process.send !== undefined) return;
  // This module loads the clients of every store; a pager needs only PostgreSQL's.
  const { findPreflightFaults } = await import('#entry/preflight.ts');
  let isAnnounced = false;
  const check = async (): Promise<void> => {
    const faults = await findPreflightFaults(config, { listens, migrates });
    if (faults.length === 0) return;
    const wrong = faults.filter(({ mayPass }) => !mayPass);
    if (wrong.length > 0) throw new ConfigError(wrong.map(({ sentence }) => sentence));
    const missing = faults.filter(({ store }) => needsClickHouse || store !== 'ClickHouse');
    const text = faults.map(({ sentence }) => sentence).join('; ');
    if (missing.length === 0) {
      process.stderr.write(`tocsin: starting all the same: ${text}\n`);
      return;
    }
    if (!isAnnounced) process.stderr.write(`tocsin: waiting for up to ${STORES_WAIT_MS_MAX / 1_000} s: ${text}\n`);
    isAnnounced = true;
    throw new StoresAway(missing.map(({ sentence }) => sentence));
  };
  await retry(check, {
    mayRetry: (error) => error instanceof StoresAway,
    pauseMs: 500,
    pauseMsMax: PAUSE_MS_MAX,
    timeoutMs: STORES_WAIT_MS_MAX,
  });
}

/** Stores that do not answer. None of them is certainly misconfigured: each may be starting. */
class StoresAway extends ConfigError {}
