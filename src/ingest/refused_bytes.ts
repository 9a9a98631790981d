import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Allowance, SharedLimit } from '#kernel/shared_limit.ts';

interface RefusedBytesOptions {
  readonly megabytesPerMinute: number;
  readonly openLimit: (name: string, allowance: Allowance) => SharedLimit;
}

const MEGABYTE = 1024 * 1024;
/** Of each body: clients send small ones of which nothing is kept, such as transactions. */
const FREE_BYTES = MEGABYTE;

/**
 * Limits what is unpacked for nothing: bodies that turn out too large, or of which nothing is taken. A hundred kilobytes
 * may unpack to a thousand times as much, and no other limit counts what was refused.
 */
export class RefusedBytes {
  readonly #limit: SharedLimit;
  readonly #megabytesPerMinute: number;

  constructor({ megabytesPerMinute, openLimit }: RefusedBytesOptions) {
    const burst = megabytesPerMinute * MEGABYTE;
    this.#megabytesPerMinute = megabytesPerMinute;
    this.#limit = openLimit('refused bytes', { burst, perSecond: burst / 60 });
  }

  /**
   * Unpacks a body, which tells what it has unpacked, and counts that unless the result has brought something. Throws
   * `rate_limited` when the service has had too much unpacked for nothing.
   */
  async watch<Result>(
    serviceId: Id<'service'>,
    unpack: (count: (bytes: number) => void) => Promise<Result>,
    hasBrought: (result: Result) => boolean = () => true,
  ): Promise<Result> {
    const retryAfterSeconds = await this.#limit.take(serviceId);
    if (retryAfterSeconds > 0) {
      throw new AppError(
        'rate_limited',
        `bodies of this service that were refused unpack to more than ${this.#megabytesPerMinute} MiB a minute; send smaller ones`,
        { limit: 'refusedMegabytesPerMinute', retryAfterSeconds },
      );
    }
    let bytes = 0;
    let isOfUse = false;
    try {
      const result = await unpack((unpacked) => void (bytes += unpacked));
      isOfUse = hasBrought(result);
      return result;
    } finally {
      if (!isOfUse && bytes > FREE_BYTES) this.#limit.spend(serviceId, bytes - FREE_BYTES);
    }
  }
}
