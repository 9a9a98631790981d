import { randomBytes } from 'node:crypto';

/** The secret of this process. */
const KEY = randomBytes(8);
const KEY_LOW = KEY.readInt32LE(0);
const KEY_HIGH = KEY.readInt32LE(4);
/** A pair is two words, its length in the tail, and three rounds more. */
const PAIR_TAIL = 8 << 24;
const PAIR_ROUNDS = 6;

/**
 * HalfSipHash-1-3 of the bytes from `start` up to, but not including, `end`. Without the key of this process nobody can
 * predict its 32 bits, so no sender can choose bytes that collide.
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
  // One round for each word and for the tail, and three more.
  const lastAt = wordsEnd + 12;
  for (let at = start; at <= lastAt; at += 4) {
    let word = 0;
    if (at < wordsEnd) word = view.getInt32(at, true);
    else if (at === wordsEnd) word = tail;
    else if (at === wordsEnd + 4) v2 ^= 0xff;
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
  return v1 ^ v3;
}

/** The pair that was hashed last: the same one is often looked for in several tables. */
let lastHigh = 0;
let lastLow = 0;
let lastHash = hashWords(0, 0);

/** Returns the hash of two 32-bit words. */
export function hashPair(high: number, low: number): number {
  if (high === lastHigh && low === lastLow) return lastHash;
  lastHigh = high;
  lastLow = low;
  lastHash = hashWords(high, low);
  return lastHash;
}

/** Returns what `hashSpan` returns for eight bytes, in a third of the time. */
function hashWords(high: number, low: number): number {
  let v0 = KEY_LOW;
  let v1 = KEY_HIGH;
  let v2 = KEY_LOW ^ 0x6c796765;
  let v3 = KEY_HIGH ^ 0x74656462;
  for (let round = 0; round < PAIR_ROUNDS; round += 1) {
    const word = round === 0 ? high : round === 1 ? low : round === 2 ? PAIR_TAIL : 0;
    if (round === 3) v2 ^= 0xff;
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
  return v1 ^ v3;
}
