const FRAME = 0xfd2fb528;
/** Frames of another content, which a reader passes by: sixteen magic numbers. */
const SKIPPABLE = 0x184d2a50;
/** Limit on the frames of a body; writers use one, or one for each thread. */
export const FRAMES_MAX = 256;
const [DICTIONARY_BYTES, SIZE_BYTES] = [
  [0, 1, 2, 4],
  [0, 2, 4, 8],
] as const;
const RUN_BLOCK = 1;

/**
 * Splits a body of Zstandard (RFC 8878) into its frames: Node's decoder stops silently after the first. Null for a body that
 * is none. What is no whole frame is left to the decoder, at the end; of too many frames one more than the limit is returned.
 */
export function zstdFrames(body: Buffer): readonly Buffer[] | null {
  if (magicAt(body, 0) === null) return null;
  const frames: Buffer[] = [];
  let at = 0;
  while (at < body.length && frames.length <= FRAMES_MAX) {
    const magic = magicAt(body, at);
    const end = magic === FRAME ? endOfFrame(body, at) : endOfSkippable(body, at, magic);
    if (magic !== SKIPPABLE || end === body.length) frames.push(body.subarray(at, end));
    at = end;
  }
  return frames;
}

function magicAt(body: Buffer, at: number): typeof FRAME | typeof SKIPPABLE | null {
  if (body.length < at + 8) return null;
  const magic = body.readUInt32LE(at);
  if (magic === FRAME) return FRAME;
  return magic - (magic % 16) === SKIPPABLE ? SKIPPABLE : null;
}

function endOfSkippable(body: Buffer, at: number, magic: number | null): number {
  return magic === SKIPPABLE ? Math.min(body.length, at + 8 + body.readUInt32LE(at + 4)) : body.length;
}

function endOfFrame(body: Buffer, start: number): number {
  const descriptor = body[start + 4] ?? 0;
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 && isSingle ? 1 : (SIZE_BYTES[sizeFlag] ?? 0);
  let at = start + 5 + (isSingle ? 0 : 1) + (DICTIONARY_BYTES[descriptor & 3] ?? 0) + sizeBytes;
  for (let isLast = false; !isLast;) {
    if (at + 3 > body.length) return body.length;
    const header = body.readUIntLE(at, 3);
    isLast = (header & 1) === 1;
    at += 3 + (((header >> 1) & 3) === RUN_BLOCK ? 1 : header >> 3);
  }
  return Math.min(body.length, at + ((descriptor & 4) === 0 ? 0 : 4));
}
