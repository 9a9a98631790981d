import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import path from 'node:path';

const MEGABYTE = 1024 * 1024;

interface DiskReserveOptions {
  readonly dataDir: string;
  /** Called with a message for people. */
  readonly report: (text: string) => void;
  readonly bytes?: number;
}

/** Enough for the acknowledgements and pages of some days. */
const RESERVE_BYTES = 64 * MEGABYTE;
/** The reserve is released when less than this is free. */
const RELEASE_BELOW_BYTES = 48 * MEGABYTE;
/** It is created (again) when this much more than its own size is free: ingestion has resumed by then. */
const SPARE_BYTES = 160 * MEGABYTE;
const CHECK_MS = 250;

/**
 * A file that reserves space on the disk of the embedded stores. When the disk is full, the file is deleted, so that the
 * database goes on and people can acknowledge. Ingestion is refused before that (`ingest/disk_space.ts`).
 */
export class DiskReserve {
  readonly #options: Required<DiskReserveOptions>;
  readonly #file: string;
  #isChecking = false;
  #wasReleased = false;
  #mayCreate = false;

  constructor(options: DiskReserveOptions) {
    this.#options = { bytes: RESERVE_BYTES, ...options };
    this.#file = path.join(options.dataDir, 'reserve');
    setInterval(() => void this.#check(), CHECK_MS).unref();
    void this.#check();
  }

  /** Allows the reserve to be created if it is missing: not during the start, which needs the disk itself. */
  enable(): void {
    this.#mayCreate = true;
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const { bytes, dataDir, report } = this.#options;
      const { bavail, bsize } = await statfs(dataDir);
      const free = bavail * bsize;
      const isThere = existsSync(this.#file);
      if (isThere && free < RELEASE_BELOW_BYTES) {
        rmSync(this.#file, { force: true });
        this.#wasReleased = true;
        report(
          `The disk of ${dataDir} is full. A reserve of ${bytes / MEGABYTE} MB was released, so that acknowledging and paging go on. ` +
            `Metrics and exceptions are refused. Free some space there, or enlarge the disk.`,
        );
      } else if (this.#mayCreate && !isThere && free > bytes + SPARE_BYTES && (await this.#create())) {
        if (this.#wasReleased) report(`The disk of ${dataDir} has space again. Everything works as before.`);
        this.#wasReleased = false;
      }
    } catch {
      // The next check tries again.
    } finally {
      this.#isChecking = false;
    }
  }

  /** Random bytes, which no file system can compress. Returns false when the file could not be completed. */
  async #create(): Promise<boolean> {
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
