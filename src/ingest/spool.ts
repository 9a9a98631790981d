import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import path from 'node:path';

import { AppError } from '#kernel/errors.ts';
import { newId } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';

interface SpoolOptions {
  /** Made when it is first needed. Processes of one machine may share it. */
  readonly folder: string;
  readonly bytesMax: number;
}

const ENTRY = '.entry';
const RETRY_AFTER_SECONDS = 30;
const ABANDONED_AFTER_MS = 60_000;

/** A bounded shelf on disk for what must not be lost while the queue is away. */
export class Spool {
  readonly #options: SpoolOptions;
  /** Of all entries, as far as this process has seen them. */
  #bytes = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
  }

  /** Returns once the bytes would survive a crash of the machine. Throws `unavailable` when they cannot be kept. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#bytes + bytes.length > this.#options.bytesMax) throw cannotKeep();
    this.#bytes += bytes.length;
    try {
      await this.#writeEntry(bytes);
    } catch (error) {
      this.#bytes -= bytes.length;
      throw cannotKeep(error);
    }
  }

  /**
   * Gives each entry to `take`, oldest first, and removes it once that has returned; stops where `take` throws.
   * Every entry is given at least once, also those of a process that died, and now and then one is given twice.
   * Resolves to how many were taken.
   */
  async replay(take: (bytes: Buffer) => Promise<void>): Promise<number> {
    const entries = await this.#list();
    this.#bytes = entries.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { file, bytes } of entries) {
      const entry = await unlessMissing(readFile(file));
      if (entry !== null) await take(entry);
      await unlessMissing(unlink(file));
      this.#bytes -= bytes;
    }
    return entries.length;
  }

  /** When the oldest entry was written; null when there is none. */
  async findOldest(): Promise<Temporal.Instant | null> {
    const [oldest] = await this.#list();
    return oldest === undefined ? null : fromEpochMilliseconds(Math.floor(oldest.writtenMs));
  }

  /** Written aside, forced to disk and then renamed: an entry is there as a whole or not at all. */
  async #writeEntry(bytes: Uint8Array): Promise<void> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = path.join(folder, newId('job'));
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(file, file + ENTRY);
    await syncFolder(folder);
  }

  /** By the time of their making, which their names begin with. What a crash left half-written, unpromised, goes. */
  async #list(): Promise<{ readonly file: string; readonly bytes: number; readonly writtenMs: number }[]> {
    const names = (await unlessMissing(readdir(this.#options.folder))) ?? [];
    const files = await Promise.all(
      names.toSorted().map(async (name) => {
        const file = path.join(this.#options.folder, name);
        const { size = 0, mtimeMs = Infinity } = (await unlessMissing(stat(file))) ?? {};
        const isOld = Date.now() - mtimeMs > ABANDONED_AFTER_MS;
        return { file, bytes: size, writtenMs: mtimeMs, isEntry: name.endsWith(ENTRY), isOld };
      }),
    );
    const abandoned = files.filter(({ isEntry, isOld }) => !isEntry && isOld);
    await Promise.all(abandoned.map(({ file }) => unlessMissing(unlink(file))));
    return files.filter(({ isEntry, writtenMs }) => isEntry && writtenMs !== Infinity);
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function unlessMissing<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function cannotKeep(cause?: unknown): AppError {
  const isFull = cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC';
  const why = isFull ? 'the disk of this server is full' : 'nothing more can be kept until it does';
  return new AppError('unavailable', `the queue takes nothing and ${why}; send again later`, {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
