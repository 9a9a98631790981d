/**
 * Gives the memory of large bytes back at once, and not when V8 next looks for garbage: until then a busy process would
 * hold all that passed through it meanwhile. To be called by whoever looked at them last: they are empty afterwards, in
 * every view of them. Nothing may still be writing them to a socket or a file, so only once that has succeeded.
 *
 * Small bytes are left alone: Node cuts them from a pool that others share, and never more than half of it.
 */
export function freeBytes({ buffer, byteLength }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && byteLength * 2 > buffer.byteLength) buffer.transfer(0);
}

/** Returns the memory of bytes that share it with no others, in order to move it to a thread instead of a copy; else nothing. */
export function ownMemoryOf({ buffer, byteLength }: ArrayBufferView): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && byteLength === buffer.byteLength ? [buffer] : [];
}
