import type { IngestTally } from '#ingest/tally.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { type IngestRefusal, IngestRefusalStore, refusalHour } from '#storage/postgres/ingest_refusal_store.ts';

interface RefusalKeeperOptions {
  readonly tally: IngestTally;
  readonly db: Pick<Database, 'session'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** How late a refusal may be shown, and how exact its time is. */
const WRITE_MS = 10_000;

/**
 * Writes down what the tally gained, from time to time and at the end, so that people see what was refused of their
 * services. What cannot be written waits, under its own hour, for the next time; requests wait for none of it.
 */
export class RefusalKeeper {
  readonly #options: RefusalKeeperOptions;
  readonly #timer: NodeJS.Timeout;
  /** What of the tally has been gathered, written or not. */
  readonly #gathered = new Map<string, number>();
  readonly #unwritten = new Map<string, IngestRefusal>();
  #writing: Promise<void> | null = null;
  #isAway = false;

  constructor(options: RefusalKeeperOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.write(), WRITE_MS);
    this.#timer.unref();
  }

  /** Writes what is not written yet, unless that is under way. Never throws. */
  async write(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  /** Writes the rest. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.write();
  }

  async #write(): Promise<void> {
    const { db, log } = this.#options;
    this.#gather();
    if (this.#unwritten.size === 0) return;
    try {
      await new IngestRefusalStore(db.session()).add([...this.#unwritten.values()]);
      this.#unwritten.clear();
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway) log.warn({ err: messageOf(error) }, 'refusals cannot be written down yet');
      this.#isAway = true;
    }
  }

  #gather(): void {
    const now = this.#options.clock.now();
    const hour = refusalHour(now);
    for (const { serviceId, kind, reason, count } of this.#options.tally.refusals()) {
      const name = `${serviceId} ${kind} ${reason}`;
      const gained = count - (this.#gathered.get(name) ?? 0);
      if (gained === 0) continue;
      this.#gathered.set(name, count);
      const key = `${name} ${hour.epochMilliseconds}`;
      const before = this.#unwritten.get(key)?.count ?? 0;
      this.#unwritten.set(key, { serviceId, kind, reason, hour, count: before + gained, lastAt: now });
    }
  }
}
