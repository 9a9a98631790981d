import type { Id } from '#kernel/ids.ts';
import { OwnThread, type ThreadAnswer } from '#kernel/threads/own_thread.ts';
import type { MappedCode } from '#modules/releases/source_maps/bundle_manifest.ts';
import type { PackedFile } from '#modules/releases/source_maps/zip_archive.ts';

/** Part of an upload to read, as packed there. */
export type AssemblyQuestion =
  | { readonly kind: 'manifest'; readonly manifest: PackedFile }
  | { readonly kind: 'map'; readonly map: PackedFile; readonly code: PackedFile | null };

export type AssemblyAnswer =
  | { readonly kind: 'manifest'; readonly codes: readonly MappedCode[]; readonly total: number }
  /** A source map as it is to be stored, compressed; `size` is what it takes before. */
  | {
      readonly kind: 'map';
      readonly hash: string;
      readonly size: number;
      readonly content: Uint8Array;
      readonly unpackedBytes: number;
    }
  /** The file cannot be used, for the reason that the message says. */
  | { readonly kind: 'fault'; readonly message: string; readonly unpackedBytes: number };

/** Time limit for one question, including all attempts on a busy machine. */
const UNHEARD_MS = 180_000;
/** Uploads are rare, and their thread is large: other threads need the memory. */
const IDLE_MS = 5_000;
/** Memory limit of the thread: the largest map, its code, and the results. */
const MEMORY_MB = 256;

/** Reads uploads in a thread of its own: what it takes to unpack, parse and compress them is up to who made them. */
export class AssemblyThread {
  readonly #thread = new OwnThread<AssemblyQuestion, AssemblyAnswer>({
    program: new URL('./assembly_program.ts', import.meta.url),
    data: null,
    memoryMb: MEMORY_MB,
    unheardMs: UNHEARD_MS,
    idleMs: IDLE_MS,
  });

  async ask(orgId: Id<'org'>, question: AssemblyQuestion): Promise<ThreadAnswer<AssemblyAnswer>> {
    return await this.#thread.ask(orgId, question);
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }
}
