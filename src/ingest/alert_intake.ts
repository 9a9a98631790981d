import type { AlertOutcome, AlertOwner, OwnedAlert, SentAlert } from '#modules/alerts/decide/sent_alert.ts';
import { AppError, isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';

interface AlertIntakeOptions {
  /** Stores events of services of one organization and does what they mean; all of them or none. */
  readonly take: (sent: readonly OwnedAlert[]) => Promise<AlertOutcome[]>;
  /** Whether the same may succeed at once, as after a lock that was not given. */
  readonly mayRetry: (error: unknown) => boolean;
  readonly log: Log;
}

interface Waiting {
  readonly sent: OwnedAlert;
  readonly resolve: (outcome: AlertOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Events of one service. */
interface Line {
  readonly owner: AlertOwner;
  readonly waiting: Waiting[];
}

/** Transactions at a time, so that as many connections are free for everything else. */
const CONCURRENCY = 4;
/** Transactions of one organization at a time. */
const OF_ORGANIZATION = 2;
/** Events of one transaction, and of one service in it where others wait. */
const BATCH = 100;
const BATCH_OF_SERVICE = 25;
const WAITING_MAX = 20_000;
const WAITING_OF_SERVICE_MAX = 5_000;
const TRIES = 4;

/**
 * Takes alerts. What arrives for a service while its last transaction runs goes into the next one, together with what
 * arrives for others of its organization, so that a flood costs no more transactions than a trickle. Services take turns,
 * and those of one organization have half of the places at most: whoever sends very much delays others by the turns that
 * are running.
 */
export class AlertIntake {
  readonly #options: AlertIntakeOptions;
  /** Waiting requests of each service, in the order of their turns. */
  readonly #lines = new Map<Id<'service'>, Line>();
  /** Services of the transactions that run, and the organization of each transaction. */
  readonly #busy = new Set<Id<'service'>>();
  readonly #running: Id<'org'>[] = [];
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
          line.waiting.push({ sent: { ...alert, owner }, resolve, reject });
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
    if (this.#count === 0 && this.#running.length === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #run(): void {
    for (const { owner } of this.#lines.values()) {
      if (this.#running.length >= CONCURRENCY) return;
      if (this.#runningOf(owner.orgId) < OF_ORGANIZATION) this.#runFor(owner.orgId);
    }
  }

  /** Runs a transaction for services of the organization that wait for their turn. */
  #runFor(orgId: Id<'org'>): void {
    const lines = [...this.#lines].filter(
      ([serviceId, { owner }]) => owner.orgId === orgId && !this.#busy.has(serviceId),
    );
    const each = lines.length === 1 ? BATCH : BATCH_OF_SERVICE;
    const batch: Waiting[] = [];
    const services: Id<'service'>[] = [];
    for (const [serviceId, line] of lines) {
      const room = Math.min(each, BATCH - batch.length);
      if (room === 0) break;
      batch.push(...line.waiting.splice(0, room));
      services.push(serviceId);
      // The service goes behind the others.
      this.#lines.delete(serviceId);
      if (line.waiting.length > 0) this.#lines.set(serviceId, line);
    }
    if (batch.length === 0) return;
    for (const serviceId of services) this.#busy.add(serviceId);
    this.#running.push(orgId);
    void this.#take(batch).finally(() => {
      for (const serviceId of services) this.#busy.delete(serviceId);
      this.#running.splice(this.#running.indexOf(orgId), 1);
      this.#count -= batch.length;
      if (this.#count === 0) for (const resolve of this.#idle.splice(0)) resolve();
      this.#run();
    });
  }

  #runningOf(orgId: Id<'org'>): number {
    return this.#running.filter((running) => running === orgId).length;
  }

  /** A service that was deleted fails alone, and so does one event that cannot be taken. */
  async #take(batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#tryToTake(batch.map(({ sent }) => sent));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) reject(new Error('every event has an outcome'));
        else resolve(outcome);
      }
    } catch (error) {
      const ofServices = [...Map.groupBy(batch, ({ sent }) => sent.owner.serviceId).values()];
      if (ofServices.length > 1 && !isUnavailable(error)) {
        for (const ofService of ofServices) await this.#take(ofService);
        return;
      }
      if (batch.length > 1 && !(error instanceof AppError)) {
        for (const waiting of batch) await this.#take([waiting]);
        return;
      }
      const [first] = batch;
      if (!(error instanceof AppError)) {
        this.#options.log.error({ err: error, ...first?.sent.owner }, 'failed to take an alert');
      }
      for (const { reject } of batch) reject(error);
    }
  }

  async #tryToTake(sent: readonly OwnedAlert[]): Promise<AlertOutcome[]> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.#options.take(sent);
      } catch (error) {
        if (tried >= TRIES || isUnavailable(error) || !this.#options.mayRetry(error)) throw error;
      }
    }
  }
}
