import { MetricTypes } from '#ingest/series/metric_types.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { type Clock, type Temporal, limitBy } from '#kernel/time.ts';
import { withTimeout } from '#kernel/promises.ts';
import type { Database } from '#storage/postgres/database.ts';
import { MetricTypeStore } from '#modules/metrics/store/metric_type_store.ts';

interface ServiceTypesOptions {
  readonly db: Pick<Database, 'session'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Limit on the services held: about 100 MB of names at the very most. */
const SERVICES_MAX = 200;
/** Delay after which another process learns the types that one received. */
const SHARE_INTERVAL_MS = 5_000;
const TIMEOUT_MS = 5_000;
/** Time after which the types of a service are read again if reading them failed. */
const RETRY_MS = 10_000;
/** Transactions commit in another order than they began. */
const OVERLAP = { seconds: 60 } as const;
const DAY_MS = 86_400_000;

interface Held {
  readonly types: MetricTypes;
  reading: Promise<void> | null;
  isRead: boolean;
  readAgainMs: number;
}

/**
 * The types that senders said, by service: in memory, and in the database for other processes and after a restart. Those
 * of the services that were not heard of for longest are forgotten. Without the database what this process was told counts.
 */
export class ServiceTypes {
  readonly #options: ServiceTypesOptions;
  readonly #services = new Map<Id<'service'>, Held>();
  readonly #timer: NodeJS.Timeout;
  #sharing: Promise<void> | null = null;
  /** Time up to which the types of other processes were read. */
  #askedUntil: Temporal.Instant | null = null;
  #isFailing = false;

  constructor(options: ServiceTypesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.share(), SHARE_INTERVAL_MS);
    this.#timer.unref();
  }

  async of(serviceId: Id<'service'>): Promise<MetricTypes> {
    const held = this.#services.get(serviceId) ?? this.#hold();
    // The last one is the one heard of last.
    this.#services.delete(serviceId);
    this.#services.set(serviceId, held);
    held.types.today = Math.floor(this.#nowMs() / DAY_MS);
    if (this.#services.size > SERVICES_MAX) this.#forgetOldest();
    if (!held.isRead && this.#nowMs() >= held.readAgainMs) {
      held.reading ??= this.#read(serviceId, held).finally(() => {
        held.reading = null;
      });
      await held.reading;
    }
    return held.types;
  }

  /** Writes what was told here and reads what was told elsewhere. Joins one that is under way; never throws. */
  async share(): Promise<void> {
    this.#sharing ??= this.#share().finally(() => {
      this.#sharing = null;
    });
    await this.#sharing;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sharing;
    await this.share();
  }

  #hold(): Held {
    return { types: new MetricTypes(), reading: null, isRead: false, readAgainMs: -Infinity };
  }

  async #read(serviceId: Id<'service'>, held: Held): Promise<void> {
    const timeoutMs = limitBy(this.#options.clock, TIMEOUT_MS);
    try {
      const stored = await withTimeout(this.#store().list([serviceId], null), timeoutMs, () => {
        throw new Error(`no answer within ${timeoutMs} ms`);
      });
      for (const { name, type, unit } of stored) held.types.learn(name, type, unit);
      held.isRead = true;
      this.#note(null);
    } catch (error) {
      held.readAgainMs = this.#nowMs() + RETRY_MS;
      this.#note(error);
    }
  }

  async #share(): Promise<void> {
    try {
      await this.#write();
      await this.#learn();
      this.#note(null);
    } catch (error) {
      this.#note(error);
    }
  }

  async #write(): Promise<void> {
    const taken = [...this.#services].flatMap(([serviceId, { types }]) =>
      types.hasUnwritten ? [{ serviceId, types, unwritten: types.takeUnwritten() }] : [],
    );
    if (taken.length === 0) return;
    try {
      const announcements = taken.flatMap(({ serviceId, unwritten }) =>
        unwritten.map((type) => ({ serviceId, ...type })),
      );
      await this.#store().announce(announcements, this.#options.clock.now());
    } catch (error) {
      for (const { types, unwritten } of taken) types.leaveUnwritten(unwritten.map(({ name }) => name));
      throw error;
    }
  }

  async #learn(): Promise<void> {
    const read = [...this.#services].filter(([, { isRead }]) => isRead).map(([serviceId]) => serviceId);
    const now = this.#options.clock.now();
    const since = (this.#askedUntil ?? now).subtract(OVERLAP);
    if (read.length > 0) {
      for (const { serviceId, name, type, unit } of await this.#store().list(read, since)) {
        this.#services.get(serviceId)?.types.learn(name, type, unit);
      }
    }
    this.#askedUntil = now;
  }

  /** Forgets the oldest service that has nothing left to write. */
  #forgetOldest(): void {
    for (const [serviceId, { types }] of this.#services) {
      if (types.hasUnwritten) continue;
      this.#services.delete(serviceId);
      return;
    }
  }

  #store(): MetricTypeStore {
    return new MetricTypeStore(this.#options.db.session());
  }

  #nowMs(): number {
    return this.#options.clock.now().epochMilliseconds;
  }

  #note(error: unknown): void {
    const isFailing = error !== null;
    if (isFailing && !this.#isFailing) {
      this.#options.log.warn({ err: messageOf(error) }, 'failed to share the types of metrics; trying again');
    }
    this.#isFailing = isFailing;
  }
}
