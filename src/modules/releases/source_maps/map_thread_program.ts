/** Program of the thread of `MapThread`: caches the maps that were used last, and looks places up in them. */
import zlib from 'node:zlib';

import type { OriginalCode } from '#modules/releases/decide/source_maps/original_code.ts';
import type { StoredMap } from '#modules/releases/decide/source_maps/source_map.ts';
import { freeBytes, ThreadGarbage } from '#kernel/free_bytes.ts';
import { answerInThread, lowerThreadPriority, THREAD_NICENESS, threadData } from '#kernel/threads/own_thread.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/threads/run_with_time_limit.ts';
import { type MapAnswer, type MapQuestion, type MapThreadLimits, WeightedCache } from './map_thread.ts';
import type { StoredContent } from '#modules/releases/store/source_map_store.ts';
import { openMap } from '#modules/releases/source_maps/open_map.ts';
import { chunkSizeFor } from '#modules/releases/source_maps/zip_archive.ts';

/** Approximate memory of a map once read, for each character of its text. */
const WEIGHT_OF_CHARACTER = 6;

const limits = threadData() as MapThreadLimits;
const garbage = new ThreadGarbage();
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
  codes.makeRoom(bytes.length * WEIGHT_OF_CHARACTER);
  garbage.look();
  const map = parse(bytes);
  garbage.look();
  const { code, weight } = runWithTimeLimit(limits.milliseconds, () => openMap(map));
  // The content of a hash never changes.
  codes.set(key, code, { weight, until: Infinity });
  return code;
}

/** Leaves nothing of the text in use. */
function parse(bytes: Buffer): StoredMap {
  const text = bytes.toString('utf8');
  freeBytes(bytes);
  return runWithTimeLimit(limits.milliseconds, () => JSON.parse(text) as StoredMap);
}

lowerThreadPriority(THREAD_NICENESS);
answerInThread(answer, garbage);
