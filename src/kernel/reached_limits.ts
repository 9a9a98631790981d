import type { AppError } from '#kernel/errors.ts';
import { LIMIT_SETTINGS, type LimitName } from '#kernel/limit_settings.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';

const LOG_EVERY_MS = 60_000;
const NAMED_MAX = 5;

/** Counts who reached which limit, so that an operator sees it in the metrics and, once a minute and limit, in the log. */
export class ReachedLimits {
  readonly counts = new Map<LimitName, number>();
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #loggedUntil = new Map<LimitName, number>();
  /** Callers that reached a limit since the last line about it, and how often. */
  readonly #since = new Map<LimitName, Map<string, number>>();

  /** Refusals that were counted already: one may pass several places. */
  readonly #counted = new WeakSet<AppError>();

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Counts a refusal once, if it is one by a limit. */
  recordRefusal(error: AppError, who: string): void {
    if (error.limit === undefined || this.#counted.has(error)) return;
    this.#counted.add(error);
    this.record(error.limit, who);
  }

  /** Counts that `who` reached the limit; `who` names an address, a key or a service, never a secret. */
  record(limit: LimitName, who: string): void {
    this.counts.set(limit, (this.counts.get(limit) ?? 0) + 1);
    const since = this.#since.get(limit) ?? new Map<string, number>();
    this.#since.set(limit, since);
    if (since.has(who) || since.size < NAMED_MAX) since.set(who, (since.get(who) ?? 0) + 1);
    const now = this.#clock.now().epochMilliseconds;
    const loggedUntil = this.#loggedUntil.get(limit) ?? 0;
    if (now < loggedUntil && loggedUntil - now <= LOG_EVERY_MS) return;
    this.#loggedUntil.set(limit, now + LOG_EVERY_MS);
    this.#since.delete(limit);
    const { variable } = LIMIT_SETTINGS[limit];
    this.#log.warn({ limit: variable, who: Object.fromEntries(since) }, 'a limit was reached');
  }
}
