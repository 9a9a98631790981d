import type { AlertOutcome, AlertOwner, SentAlert } from '#modules/alerts/decide/sent_alert.ts';
import { AppError, isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';

interface AlertIntakeOptions {
  /** Stores events of one service and does what they mean; all of them or none. */
  readonly take: (owner: AlertOwner, sent: readonly SentAlert[]) => Promise<AlertOutcome[]>;
  /** Whether the same may succeed at once, as after a lock that was not given. */
  readonly mayRetry: (error: unknown) => boolean;
  readonly log: Log;
}

/** An event that waits for its turn. */
interface Waiting {
  readonly sent: SentAlert;
  readonly resolve: (outcome: AlertOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Events of one service. */
interface Line {
  readonly owner: AlertOwner;
  readonly waiting: Waiting[];
}

/** Services at a time: each has one transaction, so that as many connections are free for everything else. */
const CONCURRENCY = 4;
/** Services of one organization at a time. */
const OF_ORGANIZATION = 2;
/** Events of one transaction. */
const BATCH = 100;
const WAITING_MAX = 20_000;
const WAITING_OF_SERVICE_MAX = 5_000;
const TRIES = 4;

/**
 * Takes alerts. What arrives for a service while its last transaction runs goes into the next one, so that a flood costs
 * no more transactions than a trickle. Services take turns, and those of one organization have half of the places at
 * most: whoever sends very much delays others by the turns that are running.
 */
export class AlertIntake {
  readonly #options: AlertIntakeOptions;
  /** Waiting requests of each service, in the order of their turns. */
  readonly #lines = new Map<Id<'service'>, Line>();
  readonly #running = new Map<Id<'service'>, Id<'org'>>();
  #count = 0;
  #idle: (() => void)[] = [];

  constructor(options: AlertIntakeOptions) {
    this.#options = options;
  }

  /** Returns once everything is stored durably. Throws `unavailable` when too much waits, or the database is away. */
  async accept(owner: AlertOwner, sent: readonly SentAlert[]): Promise<AlertOutcome[]> {
    const line = this.#lines.get(owner.serviceId) ?? { owner, waiting: [] };
    const isFull = line.waiting.length > 0 && line.waiting.length + sent.length > WAITING_OF_SERVICE_MAX;
    if (isFull || this.#count >= WAITING_MAX) {
      throw new AppError('unavailable', 'too many alerts wait; send them again in a moment', { retryAfterSeconds: 1 });
    }
    const outcomes = sent.map(
      (alert) =>
        new Promise<AlertOutcome>((resolve, reject) => {
          line.waiting.push({ sent: alert, resolve, reject });
        }),
    );
    this.#count += sent.length;
    if (line.waiting.length > 0) this.#lines.set(owner.serviceId, line);
    this.#run();
    const settled = await Promise.allSettled(outcomes);
    return settled.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
  }

  /** Resolves once nothing waits. */
  async close(): Promise<void> {
    if (this.#count === 0 && this.#running.size === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #run(): void {
    for (const [serviceId, line] of this.#lines) {
      if (this.#running.size >= CONCURRENCY) return;
      if (this.#running.has(serviceId) || this.#runningOf(line.owner.orgId) >= OF_ORGANIZATION) continue;
      const batch = line.waiting.splice(0, BATCH);
      // Behind the others.
      this.#lines.delete(serviceId);
      if (line.waiting.length > 0) this.#lines.set(serviceId, line);
      this.#running.set(serviceId, line.owner.orgId);
      void this.#take(line.owner, batch).finally(() => {
        this.#running.delete(serviceId);
        this.#count -= batch.length;
        if (this.#count === 0) for (const resolve of this.#idle.splice(0)) resolve();
        this.#run();
      });
    }
  }

  #runningOf(orgId: Id<'org'>): number {
    return [...this.#running.values()].filter((running) => running === orgId).length;
  }

  /** One event that cannot be taken fails alone. */
  async #take(owner: AlertOwner, batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#tryToTake(
        owner,
        batch.map(({ sent }) => sent),
      );
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) reject(new Error('every event has an outcome'));
        else resolve(outcome);
      }
    } catch (error) {
      if (batch.length > 1 && !(error instanceof AppError)) {
        for (const waiting of batch) await this.#take(owner, [waiting]);
        return;
      }
      if (!(error instanceof AppError)) this.#options.log.error({ err: error, ...owner }, 'failed to take an alert');
      for (const { reject } of batch) reject(error);
    }
  }

  async #tryToTake(owner: AlertOwner, sent: readonly SentAlert[]): Promise<AlertOutcome[]> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.#options.take(owner, sent);
      } catch (error) {
        if (tried >= TRIES || isUnavailable(error) || !this.#options.mayRetry(error)) throw error;
      }
    }
  }
}
