import { OriginalCode } from '#modules/releases/decide/source_maps/original_code.ts';
import type { StoredMap } from '#modules/releases/decide/source_maps/source_map.ts';

/** About what each costs in memory. */
const SEGMENT_BYTES = 25;
const FUNCTION_BYTES = 90;
const CHARACTER_BYTES = 3;

export interface OpenedMap {
  readonly code: OriginalCode;
  /** Approximate size in memory, in bytes. */
  readonly weight: number;
}

/** Opens what `assembleBundle` has written. Takes time in proportion to its size; whoever calls it bounds the time. */
export function openMap(map: StoredMap): OpenedMap {
  return { code: new OriginalCode(map), weight: weightOf(map) };
}

function weightOf({ mappings, contents, functions }: StoredMap): number {
  const characters = contents.reduce((sum, content) => sum + (content?.length ?? 0), 0);
  return (mappings.length / 5) * SEGMENT_BYTES + characters * CHARACTER_BYTES + functions.length * FUNCTION_BYTES;
}
