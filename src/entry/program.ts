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

/** How long a store that does not answer is waited for: longer than a fail-over takes. */
const STORES_WAIT_MS_MAX = 300_000;
const PAUSE_MS_MAX = 5_000;

interface Needs {
  readonly listens: boolean;
  /** Whether it makes what is missing in the stores. */
  readonly migrates?: boolean;
  /** Without ClickHouse people can still answer incidents and be paged. */
  readonly needsClickHouse: boolean;
}

/**
 * Throws a ConfigError when a setting does not fit what is there. A store that does not answer may be starting, or
 * failing over, and is waited for, less and less often. Where a supervisor has started this process, it has looked already.
 */
export async function awaitStores(
  config: Config,
  { listens, migrates = false, needsClickHouse }: Needs,
): Promise<void> {
  if (process.send !== undefined) return;
  // Loads the clients of every store, of which a pager needs none but PostgreSQL's.
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

/** No store that does not answer is wrongly configured for sure: each may be starting. */
class StoresAway extends ConfigError {}
