import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';

const TOTAL_BYTES_MAX = 96 * 1024 * 1024;
/** A service that floods leaves space for the others. */
const SERVICE_BYTES_MAX = 48 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 2;

/** Limits the data that waits in memory to be stored. */
export class IntakeBudget {
  #total = 0;
  readonly #services = new Map<Id<'service'>, number>();

  /**
   * Reserves `bytes` for the service until the work is done. Throws `unavailable` if there is no space: it is this process
   * that is too slow, and every sender of metrics retries after 503, but Prometheus does not after 429.
   */
  async hold(serviceId: Id<'service'>, bytes: number, work: () => Promise<void>): Promise<void> {
    this.#add(serviceId, bytes);
    try {
      await work();
    } finally {
      this.#release(serviceId, bytes);
    }
  }

  #add(serviceId: Id<'service'>, bytes: number): void {
    const held = this.#services.get(serviceId) ?? 0;
    if (held + bytes > SERVICE_BYTES_MAX || this.#total + bytes > TOTAL_BYTES_MAX) {
      throw new AppError('unavailable', 'more is arriving than can be stored; send again shortly', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.#total += bytes;
    this.#services.set(serviceId, held + bytes);
  }

  #release(serviceId: Id<'service'>, bytes: number): void {
    const left = (this.#services.get(serviceId) ?? 0) - bytes;
    this.#total -= bytes;
    if (left > 0) this.#services.set(serviceId, left);
    else this.#services.delete(serviceId);
  }
}
