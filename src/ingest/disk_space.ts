import { statfs } from 'node:fs/promises';

import { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

interface DiskSpaceOptions {
  /** On the disk that is meant. */
  readonly folder: string;
  /** Less than this is too little to take data; 0 for a disk that is nobody's concern here. */
  readonly bytesMin: number;
  readonly log: Log;
  readonly measure?: (folder: string) => Promise<number>;
}

const MEASURE_MS = 500;
/** Low until there is this much more, so that it does not change to and fro. */
const ROOM_FACTOR = 1.25;
const RETRY_AFTER_SECONDS = 30;
const MEGABYTE = 1024 * 1024;

/**
 * Whether the disk has room for what senders send. They are refused first, long before it is full: what is left is for
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

  /** Null where nobody looks, or it could not be found out. */
  get freeBytes(): number | null {
    return this.#freeBytes;
  }

  /** What is the matter and what to do about it; null while there is room. */
  get fault(): string | null {
    if (!this.#isLow) return null;
    const { bytesMin } = this.#options;
    const megabytes = (bytes: number): number => Math.floor(bytes / MEGABYTE);
    return (
      `the disk of DATA_DIR has ${megabytes(this.#freeBytes ?? 0)} MB left: metrics and exceptions are refused until ` +
      `${megabytes(bytesMin * ROOM_FACTOR)} MB are free; delete what is not needed, or give it more room`
    );
  }

  /** Throws `unavailable` while there is too little room. */
  requireRoom(): void {
    if (!this.#isLow) return;
    throw new AppError('unavailable', 'the disk of this server is nearly full, so no data is taken; send again later', {
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
    else log.info({ freeBytes: this.#freeBytes }, 'the disk has room again: metrics and exceptions are taken');
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }
}

/** What a user without privileges may still write there. */
async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
