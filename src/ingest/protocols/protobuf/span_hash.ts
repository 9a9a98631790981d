/** Of the bytes from `start` to `end`, in 32 bits. Not for what an attacker must not be able to make collide. */
export function hashSpan(view: DataView, start: number, end: number): number {
  let hash = 0x811c9dc5 ^ (end - start);
  let i = start;
  for (; i + 4 <= end; i += 4) {
    hash = Math.imul(hash ^ view.getInt32(i, true), 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  for (; i < end; i += 1) hash = Math.imul(hash ^ view.getUint8(i), 0x01000193);
  return hash ^ (hash >>> 13);
}

/** Whether `length` bytes are the same in both places. */
export function isSameSpan(a: DataView, aStart: number, b: DataView, bStart: number, length: number): boolean {
  if (length < 8) return isSameShort(a, aStart, b, bStart, length);
  const last = length - 8;
  for (let i = 0; i < last; i += 8) {
    if (a.getBigInt64(aStart + i, true) !== b.getBigInt64(bStart + i, true)) return false;
  }
  return a.getBigInt64(aStart + last, true) === b.getBigInt64(bStart + last, true);
}

function isSameShort(a: DataView, aStart: number, b: DataView, bStart: number, length: number): boolean {
  for (let i = 0; i < length; i += 1) if (a.getUint8(aStart + i) !== b.getUint8(bStart + i)) return false;
  return true;
}
