import { networkOf } from '#kernel/ip_address.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { RateLimit, SharedLimit } from '#kernel/shared_limit.ts';

interface RefusedBytesOptions {
  readonly megabytesPerMinute: number;
  readonly openLimit: (name: string, rate: RateLimit) => SharedLimit;
}

export interface BodySender {
  readonly serviceId: Id<'service'>;
  readonly ip: string;
}

const MEGABYTE = 1024 * 1024;
/** Bytes of each body that are not counted: clients send small ones of which nothing is kept, such as transactions. */
const FREE_BYTES = MEGABYTE;
/** Limit on what all addresses together may have unpacked in vain, as a multiple of the limit on one address. */
const ADDRESSES = 5;

/**
 * Limits what is unpacked for nothing: bodies that turn out too large, or of which nothing is taken. A hundred kilobytes
 * may unpack to a thousand times as much, and no other limit counts what was refused. Counts for each address from which a
 * service is sent to, so that one client leaves the others theirs, and for the service.
 */
export class RefusedBytes {
  readonly #ofAddress: SharedLimit;
  readonly #ofService: SharedLimit;
  readonly #megabytesPerMinute: number;

  constructor({ megabytesPerMinute, openLimit }: RefusedBytesOptions) {
    const burst = megabytesPerMinute * MEGABYTE;
    this.#megabytesPerMinute = megabytesPerMinute;
    this.#ofAddress = openLimit('refused bytes', { burst, perSecond: burst / 60 });
    const all = ADDRESSES * burst;
    this.#ofService = openLimit('refused bytes of a service', { burst: all, perSecond: all / 60 });
  }

  /**
   * Runs `unpack`, which reports unpacked bytes by `count`. They count against the sender unless the result was of use.
   * Once a sender has used up its limit, `count` throws `rate_limited` for what goes beyond the free part of a body, so
   * bodies of usual size are still taken.
   */
  async watch<Result>(
    { serviceId, ip }: BodySender,
    unpack: (count: (bytes: number) => void) => Promise<Result>,
    hasBrought: (result: Result) => boolean = () => true,
  ): Promise<Result> {
    const address = `${serviceId} ${networkOf(ip)}`;
    const waits = await Promise.all([this.#ofAddress.take(address), this.#ofService.take(serviceId)]);
    const retryAfterSeconds = Math.max(...waits);
    let bytes = 0;
    let isOfUse = false;
    try {
      const result = await unpack((unpacked) => {
        bytes += unpacked;
        if (bytes > FREE_BYTES && retryAfterSeconds > 0) throw this.#refusal(retryAfterSeconds);
      });
      isOfUse = hasBrought(result);
      return result;
    } finally {
      if (!isOfUse && bytes > FREE_BYTES) {
        this.#ofAddress.spend(address, bytes - FREE_BYTES);
        this.#ofService.spend(serviceId, bytes - FREE_BYTES);
      }
    }
  }

  #refusal(retryAfterSeconds: number): AppError {
    return new AppError(
      'rate_limited',
      `bodies from your address that were refused unpack to more than ${this.#megabytesPerMinute} MiB a minute ` +
        `(or those of all addresses to ${ADDRESSES} times that): until then, send bodies of at most 1 MiB unpacked`,
      { limit: 'refusedMegabytesPerMinute', retryAfterSeconds },
    );
  }
}
