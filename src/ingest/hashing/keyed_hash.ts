import { randomBytes } from 'node:crypto';

/** The secret of this process. */
const KEY = randomBytes(8);
const KEY_LOW = KEY.readInt32LE(0);
const KEY_HIGH = KEY.readInt32LE(4);

/**
 * HalfSipHash-1-3 of the bytes from `start` up to, but not including, `end`. Without the key of this process nobody can
 * predict its 32 bits, so no sender can choose bytes that collide. The rounds are written out, because a call per round
 * would make it slower.
 */
export function hashSpan(view: DataView, start: number, end: number): number {
  const length = end - start;
  const wordsEnd = end - (length & 3);
  let tail = length << 24;
  for (let at = wordsEnd; at < end; at += 1) tail |= view.getUint8(at) << ((at - wordsEnd) * 8);
  let v0 = KEY_LOW;
  let v1 = KEY_HIGH;
  let v2 = KEY_LOW ^ 0x6c796765;
  let v3 = KEY_HIGH ^ 0x74656462;
  for (let at = start; at <= wordsEnd; at += 4) {
    const word = at < wordsEnd ? view.getInt32(at, true) : tail;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return finish(v0, v1, v2, v3);
}

/** The same of two 32-bit words, for keys that are hashes without a secret. */
export function hashPair(high: number, low: number): number {
  let v0 = KEY_LOW;
  let v1 = KEY_HIGH;
  let v2 = KEY_LOW ^ 0x6c796765;
  let v3 = KEY_HIGH ^ 0x74656462;
  for (let i = 0; i < 3; i += 1) {
    const word = i === 0 ? high : i === 1 ? low : 8 << 24;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return finish(v0, v1, v2, v3);
}

function finish(a: number, b: number, c: number, d: number): number {
  let [v0, v1, v2, v3] = [a, b, c ^ 0xff, d];
  for (let round = 0; round < 3; round += 1) {
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
  }
  return v1 ^ v3;
}
