import { statfs } from 'node:fs/promises';

import { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

interface DiskSpaceOptions {
  readonly folder: string;
  /** Free space below which data is refused; 0 disables the check. */
  readonly bytesMin: number;
  readonly log: Log;
  readonly measure?: (folder: string) => Promise<number>;
}

const MEASURE_MS = 500;
/** Multiple of the limit that must be free again before data is accepted, which prevents flapping. */
const ROOM_FACTOR = 1.25;
const RETRY_AFTER_SECONDS = 30;
const MEGABYTE = 1024 * 1024;

/**
 * Whether the disk has space for data. Senders are refused first, long before the disk is full: the rest is for
 * acknowledging and paging.
 */
export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  readonly #timer: NodeJS.Timeout | null;
  #freeBytes: number | null = null;
  #isLow = false;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
    this.#timer = options.bytesMin === 0 ? null : setInterval(() => void this.measure(), MEASURE_MS);
    this.#timer?.unref();
  }

  /** Returns the free bytes; null if the disk is not watched, or the measurement failed. */
  get freeBytes(): number | null {
    return this.#freeBytes;
  }

  /** The problem and what to do about it; null while there is space. */
  get fault(): string | null {
    if (!this.#isLow) return null;
    const { bytesMin } = this.#options;
    const megabytes = (bytes: number): number => Math.floor(bytes / MEGABYTE);
    return (
      `the disk of DATA_DIR has ${megabytes(this.#freeBytes ?? 0)} MB left: metrics and exceptions are refused until ` +
      `${megabytes(bytesMin * ROOM_FACTOR)} MB are free; delete what is not needed, or give it more room`
    );
  }

  /** Throws `unavailable` while there is too little space. */
  requireCapacity(): void {
    if (!this.#isLow) return;
    throw new AppError('unavailable', 'the disk of this server is nearly full, so no data is taken; send again later', {
      limit: 'ingestDiskMegabytes',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  async measure(): Promise<void> {
    const { folder, bytesMin, log, measure = freeBytesOf } = this.#options;
    this.#freeBytes = await measure(folder).catch(() => null);
    if (this.#freeBytes === null) return;
    const wasLow = this.#isLow;
    this.#isLow = this.#freeBytes < (wasLow ? bytesMin * ROOM_FACTOR : bytesMin);
    if (wasLow === this.#isLow) return;
    if (this.#isLow) log.error({ folder, freeBytes: this.#freeBytes }, this.fault ?? '');
    else log.info({ freeBytes: this.#freeBytes }, 'the disk has room again: metrics and exceptions are accepted');
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }
}

/** Returns the bytes that an unprivileged user may still write. */
async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
