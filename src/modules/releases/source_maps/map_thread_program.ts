/** Program of the thread of `MapThread`: caches the maps that were used last, and looks places up in them. */
import zlib from 'node:zlib';

import type { OriginalCode } from '#modules/releases/decide/source_maps/original_code.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import { answerInThread, lowerThreadPriority, THREAD_NICENESS, threadData } from '#kernel/threads/answer_in_thread.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/threads/run_with_time_limit.ts';
import type { MapAnswer, MapQuestion, MapThreadLimits } from '#modules/releases/source_maps/map_thread.ts';
import type { StoredContent } from '#modules/releases/store/source_map_store.ts';
import { openMap } from '#modules/releases/source_maps/open_map.ts';
import { WeightedCache } from '#modules/releases/source_maps/weighted_cache.ts';
import { chunkSizeFor } from '#modules/releases/source_maps/zip_archive.ts';

/** Approximate memory of a map once read, for each character of its text. */
const WEIGHT_OF_CHARACTER = 6;

const limits = threadData() as MapThreadLimits;
const codes = new WeightedCache<OriginalCode>(limits.keptBytesMax, (code) => code.free());

function answer({ key, stored, places }: MapQuestion): MapAnswer {
  try {
    const code = codes.get(key, 0) ?? (stored === null ? null : open(key, stored));
    if (code === null) return { kind: 'unknown' };
    const originals = runWithTimeLimit(limits.milliseconds, () =>
      places.map(([line, column]) => code.find(line, column)),
    );
    return { kind: 'found', places: originals };
  } catch (error) {
    if (!(error instanceof TimeLimitExceeded)) throw error;
    return { kind: 'too_much' };
  }
}

function open(key: string, { content, size }: StoredContent): OriginalCode {
  const bytes = zlib.zstdDecompressSync(content, {
    maxOutputLength: limits.storedBytesMax,
    chunkSize: chunkSizeFor(size),
  });
  freeBytes(content);
  const text = bytes.toString('utf8');
  freeBytes(bytes);
  codes.makeRoom(text.length * WEIGHT_OF_CHARACTER);
  const { code, weight } = runWithTimeLimit(limits.milliseconds, () => openMap(text));
  // The content of a hash never changes.
  codes.set(key, code, { weight, until: Infinity });
  return code;
}

lowerThreadPriority(THREAD_NICENESS);
answerInThread(answer);
