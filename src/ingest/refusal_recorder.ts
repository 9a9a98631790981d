import { PeriodicWrite } from '#ingest/periodic_write.ts';
import type { IngestCounters } from '#ingest/ingest_counters.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { type IngestRefusal, IngestRefusalStore, refusalHour } from '#modules/services/store/ingest_counts.ts';

interface RefusalRecorderOptions {
  readonly counters: IngestCounters;
  readonly db: Pick<Database, 'session'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Write interval: the longest delay before a refusal is shown, and the precision of its time. */
const WRITE_INTERVAL_MS = 10_000;

/**
 * Writes what the counters of refusals gained to the database, regularly and at the end, so that people see what was
 * refused of their services. What cannot be written now waits, under its own hour; no request waits for it.
 */
export class RefusalRecorder {
  readonly #options: RefusalRecorderOptions;
  readonly #writes: PeriodicWrite;
  /** The counts that were collected so far, written or not. */
  readonly #collected = new Map<string, number>();
  readonly #unwritten = new Map<string, IngestRefusal>();
  #isFailing = false;

  constructor(options: RefusalRecorderOptions) {
    this.#options = options;
    this.#writes = new PeriodicWrite(() => this.#write(), WRITE_INTERVAL_MS);
  }

  /** Joins a write that is already running. Never throws. */
  write(): Promise<void> {
    return this.#writes.write();
  }

  /** Writes the rest. */
  close(): Promise<void> {
    return this.#writes.close();
  }

  async #write(): Promise<void> {
    const { db, log } = this.#options;
    this.#collect();
    if (this.#unwritten.size === 0) return;
    try {
      await new IngestRefusalStore(db.session()).add([...this.#unwritten.values()]);
      this.#unwritten.clear();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn({ err: messageOf(error) }, 'refusals could not be recorded; trying again');
      this.#isFailing = true;
    }
  }

  #collect(): void {
    const now = this.#options.clock.now();
    const hour = refusalHour(now);
    for (const { serviceId, kind, reason, count } of this.#options.counters.refusals()) {
      const name = `${serviceId} ${kind} ${reason}`;
      const gained = count - (this.#collected.get(name) ?? 0);
      if (gained === 0) continue;
      this.#collected.set(name, count);
      const key = `${name} ${hour.epochMilliseconds}`;
      const before = this.#unwritten.get(key)?.count ?? 0;
      this.#unwritten.set(key, { serviceId, kind, reason, hour, count: before + gained, lastAt: now });
    }
  }
}
