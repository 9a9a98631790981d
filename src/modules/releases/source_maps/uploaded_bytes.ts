import { createHash } from 'node:crypto';

import type { Id } from '#kernel/ids.ts';
import type { ArtifactStore } from '#modules/releases/store/artifact_store.ts';

/** The file cannot be read, for the reason that the message says. */
export class BadUpload extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BadUpload';
  }
}

interface Part {
  readonly sha1: string;
  readonly start: number;
  readonly size: number;
}

/** A file that was uploaded in parts. One part at a time is in memory. */
export class UploadedBytes {
  readonly length: number;
  readonly #artifacts: Pick<ArtifactStore, 'findChunk'>;
  readonly #orgId: Id<'org'>;
  readonly #parts: readonly Part[];
  #last: { readonly sha1: string; readonly content: Buffer } | null = null;

  /** Opens an upload; `sizes` are the sizes of its parts, by checksum. */
  constructor(
    artifacts: Pick<ArtifactStore, 'findChunk'>,
    orgId: Id<'org'>,
    checksums: readonly string[],
    sizes: ReadonlyMap<string, number>,
  ) {
    this.#artifacts = artifacts;
    this.#orgId = orgId;
    let length = 0;
    this.#parts = checksums.map((sha1): Part => {
      const size = sizes.get(sha1) ?? 0;
      const part = { sha1, start: length, size };
      length += size;
      return part;
    });
    this.length = length;
  }

  async sha1(): Promise<string> {
    const hash = createHash('sha1');
    for (const part of this.#parts) hash.update(await this.#contentOf(part));
    return hash.digest('hex');
  }

  /** Throws `BadUpload` for bytes that are not in the file. */
  async read(start: number, length: number): Promise<Buffer> {
    if (start < 0 || length < 0 || start + length > this.length) throw new BadUpload('the archive is incomplete');
    const pieces: Buffer[] = [];
    for (const part of this.#parts) {
      const from = Math.max(start, part.start);
      const to = Math.min(start + length, part.start + part.size);
      if (from < to) pieces.push((await this.#contentOf(part)).subarray(from - part.start, to - part.start));
    }
    return Buffer.concat(pieces);
  }

  async #contentOf({ sha1 }: Part): Promise<Buffer> {
    if (this.#last?.sha1 === sha1) return this.#last.content;
    const content = await this.#artifacts.findChunk(this.#orgId, sha1);
    if (content === null) throw new BadUpload('a part of the file is gone; upload it again');
    this.#last = { sha1, content };
    return content;
  }
}
