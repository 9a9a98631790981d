import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';

/** The limits that callers of this process can reach. The security guide documents each of them. */
export const LIMITS = [
  'connections',
  'connections_of_address',
  'slow_request',
  'unread_body',
  'connection_without_key',
  'body_bytes',
  'body_bytes_of_sender',
  'concurrent_calls',
  'calls_per_minute',
  'answer_bytes_per_minute',
  'mcp_batch',
] as const;

export type Limit = (typeof LIMITS)[number];

const LOG_EVERY_MS = 60_000;
const NAMED_MAX = 5;

/** Counts who met which limit, so that an operator sees it in the metrics and, once a minute and limit, in the log. */
export class LimitLog {
  readonly counts = new Map<Limit, number>();
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #quietUntil = new Map<Limit, number>();
  /** Who met a limit since the last line about it, and how often. */
  readonly #since = new Map<Limit, Map<string, number>>();

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** `who` names an address, a key or a service; never a secret. */
  met(limit: Limit, who: string): void {
    this.counts.set(limit, (this.counts.get(limit) ?? 0) + 1);
    const since = this.#since.get(limit) ?? new Map<string, number>();
    this.#since.set(limit, since);
    if (since.has(who) || since.size < NAMED_MAX) since.set(who, (since.get(who) ?? 0) + 1);
    const now = this.#clock.now().epochMilliseconds;
    const quietUntil = this.#quietUntil.get(limit) ?? 0;
    if (now < quietUntil && quietUntil - now <= LOG_EVERY_MS) return;
    this.#quietUntil.set(limit, now + LOG_EVERY_MS);
    this.#since.delete(limit);
    this.#log.warn({ limit, who: Object.fromEntries(since) }, 'a limit was reached');
  }
}
