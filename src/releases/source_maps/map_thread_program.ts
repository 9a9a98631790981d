/** What runs in the thread of `MapThread`: keeps the maps that were used last, and says what stands at places. */
import { parentPort, workerData } from 'node:worker_threads';
import zlib from 'node:zlib';

import type { OriginalCode } from '#core/source_maps/original_code.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/run_with_time_limit.ts';
import type { MapAnswer, MapQuestion, MapThreadLimits } from '#releases/source_maps/map_thread.ts';
import { openMap } from '#releases/source_maps/open_map.ts';
import { WeightedCache } from '#releases/source_maps/weighted_cache.ts';

const limits: MapThreadLimits = workerData;
const codes = new WeightedCache<OriginalCode>(limits.keptBytesMax);

function answer({ key, content, places }: MapQuestion): MapAnswer {
  try {
    const code = codes.get(key, 0) ?? (content === null ? null : open(key, content));
    if (code === null) return { kind: 'unknown' };
    const found = runWithTimeLimit(limits.milliseconds, () => places.map(([line, column]) => code.find(line, column)));
    return { kind: 'found', places: found };
  } catch (error) {
    if (!(error instanceof TimeLimitExceeded)) throw error;
    return { kind: 'too_much' };
  }
}

function open(key: string, content: Uint8Array): OriginalCode {
  const text = zlib.zstdDecompressSync(content, { maxOutputLength: limits.storedBytesMax }).toString('utf8');
  const { code, weight } = runWithTimeLimit(limits.milliseconds, () => openMap(text));
  // What a hash names never changes.
  codes.set(key, code, { weight, until: Infinity });
  return code;
}

parentPort?.on('message', (question: MapQuestion) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
  parentPort?.postMessage(answer(question));
});
