import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import path from 'node:path';

import { AppError } from '#kernel/errors.ts';
import { newId } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';

interface SpoolOptions {
  /** Folder of the spool, created when first needed. Processes on one machine may share it. */
  readonly folder: string;
  readonly bytesMax: number;
}

const ENTRY = '.entry';
const RETRY_AFTER_SECONDS = 30;
const ABANDONED_AFTER_MS = 60_000;

/** A bounded folder on disk for data that must not be lost while the queue is unavailable. */
export class Spool {
  readonly #options: SpoolOptions;
  /** The size of all entries, as far as this process knows. */
  #bytes = 0;
  /** The size of those that were written since the folder was listed last. */
  #unlistedBytes = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
  }

  /** Whether no entry waits, as far as this process knows. */
  isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** Returns once the bytes would survive a crash of the machine. Throws `unavailable` when they cannot be stored. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#bytes + bytes.length > this.#options.bytesMax) throw cannotStore();
    this.#count(bytes.length);
    try {
      await this.#writeEntry(bytes);
    } catch (error) {
      this.#count(-bytes.length);
      throw cannotStore(error);
    }
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#unlistedBytes += bytes;
  }

  /**
   * Passes each entry to `take`, oldest first, and removes it once that has returned; stops when `take` throws. Every entry
   * is passed at least once, including those of a process that died, and occasionally one is passed twice. Resolves to the
   * number of entries.
   */
  async replay(take: (bytes: Buffer) => Promise<void>): Promise<number> {
    this.#unlistedBytes = 0;
    const entries = await this.#list();
    // One that was written meanwhile may count twice, until the next time.
    this.#bytes = entries.reduce((sum, { bytes }) => sum + bytes, this.#unlistedBytes);
    for (const { file, bytes } of entries) {
      const entry = await unlessMissing(readFile(file));
      if (entry !== null) await take(entry);
      await unlessMissing(unlink(file));
      this.#bytes -= bytes;
    }
    return entries.length;
  }

  /** Yields each entry, oldest first; the entries stay in the spool. */
  async *read(): AsyncGenerator<Buffer> {
    for (const { file } of await this.#list()) {
      const entry = await unlessMissing(readFile(file));
      if (entry !== null) yield entry;
    }
  }

  /** Returns the time at which the oldest entry was written; null if there is none. */
  async findOldest(): Promise<Temporal.Instant | null> {
    const [oldest] = await this.#list();
    return oldest === undefined ? null : fromEpochMilliseconds(Math.floor(oldest.writtenMs));
  }

  /** Writes a temporary file, syncs it and renames it, so that an entry is complete or absent. */
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

  /**
   * Lists the files, oldest first, because their names begin with the time. Deletes files that a crash left incomplete.
   */
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

function cannotStore(cause?: unknown): AppError {
  const isFull = cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC';
  const why = isFull ? 'the disk of this server is full' : 'the space for waiting events is used up';
  return new AppError('unavailable', `the queue is unavailable and ${why}; send again later`, {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
