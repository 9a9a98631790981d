import { Script } from 'node:vm';

import type { Clock } from '#kernel/time.ts';

/** Thrown when work was stopped because it took longer than its limit. */
export class TimeLimitExceeded extends Error {
  constructor(milliseconds: number) {
    super(`stopped after ${milliseconds} ms`);
    this.name = 'TimeLimitExceeded';
  }
}

let work: () => unknown = () => undefined;

const SLOT = Symbol.for('tocsin.run_with_time_limit');
Object.defineProperty(globalThis, SLOT, { value: () => work() });
const CALL = new Script(`globalThis[Symbol.for('tocsin.run_with_time_limit')]()`, { filename: 'run_with_time_limit' });

/** Share of the limit: work that got less processor time was not slow, but had to wait for a busy machine. */
const BUSY_SHARE = 0.5;
/** Number of attempts in all; each may last twice as long as the one before. */
const ATTEMPTS = 3;

/**
 * Runs the work and stops it when it takes longer than the limit: V8 interrupts any loop or regular expression, and
 * `TimeLimitExceeded` is thrown. On a machine too busy to give it a processor it is run again, for longer. A call costs
 * 50 to 120 µs. Work that is stopped may leave things half done, so it should only compute a result from its input.
 * Calls cannot be nested.
 */
export function runWithTimeLimit<Result>(milliseconds: number, task: () => Result): Result {
  const began = threadProcessorMs();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return runOnce(milliseconds * 2 ** (attempt - 1), task);
    } catch (error) {
      const isSlow = threadProcessorMs() - began >= milliseconds * BUSY_SHARE;
      if (!(error instanceof TimeLimitExceeded) || isSlow || attempt >= ATTEMPTS) throw error;
    }
  }
}

function runOnce<Result>(milliseconds: number, task: () => Result): Result {
  let result: { readonly value: Result } | null = null;
  work = () => {
    result = { value: task() };
  };
  try {
    CALL.runInThisContext({ timeout: milliseconds });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new TimeLimitExceeded(milliseconds);
    }
    throw error;
  } finally {
    work = () => undefined;
  }
  return valueOf(result);
}

function valueOf<Result>(result: { readonly value: Result } | null): Result {
  if (result === null) throw new Error('the work did not end');
  return result.value;
}

/** Returns the processor time that this thread has used so far, in milliseconds, without waits for a processor. */
export function threadProcessorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

interface Account {
  leftMs: number;
  atMs: number;
}

const KEYS_MAX = 10_000;
const MINUTE_MS = 60_000;

/**
 * Working time that each organization may use a minute, in this process. The time of a piece of work is known once it
 * has been done, so the last one may take more than is left, which is then made good.
 */
export class TimeBudget {
  readonly #msPerMinute: number;
  readonly #clock: Clock;
  /** Accounts by organization, least recently used first. */
  readonly #accounts = new Map<string, Account>();

  constructor(msPerMinute: number, clock: Clock) {
    this.#msPerMinute = msPerMinute;
    this.#clock = clock;
  }

  /** Returns whole seconds until something is left; 0 when something is. */
  secondsToWait(orgId: string): number {
    const { leftMs } = this.#accountOf(orgId);
    return leftMs > 0 ? 0 : Math.max(1, Math.ceil((-leftMs / this.#msPerMinute) * 60));
  }

  spend(orgId: string, ms: number): void {
    this.#accountOf(orgId).leftMs -= ms;
  }

  #accountOf(orgId: string): Account {
    const nowMs = this.#clock.now().epochMilliseconds;
    const account = this.#accounts.get(orgId) ?? { leftMs: this.#msPerMinute, atMs: nowMs };
    const elapsedMs = Math.max(0, nowMs - account.atMs);
    account.leftMs = Math.min(this.#msPerMinute, account.leftMs + (elapsedMs / MINUTE_MS) * this.#msPerMinute);
    account.atMs = nowMs;
    this.#accounts.delete(orgId);
    this.#accounts.set(orgId, account);
    const oldest = this.#accounts.size > KEYS_MAX ? this.#accounts.keys().next().value : undefined;
    if (oldest !== undefined) this.#accounts.delete(oldest);
    return account;
  }
}
