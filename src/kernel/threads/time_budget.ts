import type { Clock } from '#kernel/time.ts';

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
