import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import path from 'node:path';

const MEGABYTE = 1024 * 1024;

interface DiskReserveOptions {
  readonly dataDir: string;
  /** Told what people should know. */
  readonly report: (text: string) => void;
  readonly bytes?: number;
}

/** What acknowledgements and pages of some days need. */
const RESERVE_BYTES = 64 * MEGABYTE;
/** Given back when less than this is free. */
const RELEASE_BELOW_BYTES = 48 * MEGABYTE;
/** Made (again) when this much more than itself is free: senders are taken again by then. */
const ROOM_BYTES = 160 * MEGABYTE;
const LOOK_MS = 250;

/**
 * A file that holds room on the disk of the embedded stores. Whatever fills the disk, there is something left to give
 * back, so that the database goes on and people can acknowledge. Senders are refused before (`ingest/disk_space.ts`).
 */
export class DiskReserve {
  readonly #options: Required<DiskReserveOptions>;
  readonly #file: string;
  #isLooking = false;
  #wasGivenBack = false;
  #mayMake = false;

  constructor(options: DiskReserveOptions) {
    this.#options = { bytes: RESERVE_BYTES, ...options };
    this.#file = path.join(options.dataDir, 'reserve');
    setInterval(() => void this.#look(), LOOK_MS).unref();
    void this.#look();
  }

  /** From now on it is made where it is missing: not while everything starts, which has better use for the disk. */
  keepUp(): void {
    this.#mayMake = true;
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const { bytes, dataDir, report } = this.#options;
      const { bavail, bsize } = await statfs(dataDir);
      const free = bavail * bsize;
      const isThere = existsSync(this.#file);
      if (isThere && free < RELEASE_BELOW_BYTES) {
        rmSync(this.#file, { force: true });
        this.#wasGivenBack = true;
        report(
          `The disk of ${dataDir} is full. A reserve of ${bytes / MEGABYTE} MB was given back, so that acknowledging and paging go on; ` +
            `metrics and exceptions are refused. Delete what is not needed there, or give it more room.`,
        );
      } else if (this.#mayMake && !isThere && free > bytes + ROOM_BYTES && (await this.#make())) {
        if (this.#wasGivenBack) report(`The disk of ${dataDir} has room again, and everything goes on.`);
        this.#wasGivenBack = false;
      }
    } catch {
      // The next look may tell more.
    } finally {
      this.#isLooking = false;
    }
  }

  /** Of bytes that no file system can pack. False when it was not finished. */
  async #make(): Promise<boolean> {
    const draft = `${this.#file}.draft`;
    const block = randomBytes(MEGABYTE);
    try {
      const handle = await open(draft, 'w', 0o600);
      try {
        for (let written = 0; written < this.#options.bytes; written += block.length) {
          await handle.write(block);
        }
      } finally {
        await handle.close();
      }
      renameSync(draft, this.#file);
      return true;
    } catch {
      rmSync(draft, { force: true });
      return false;
    }
  }
}
