interface Room {
  readonly bytes: Buffer;
  /** Of the same bytes. */
  readonly view: DataView;
}

/**
 * Memory for one body after the other, as long as each is done with before the next begins. It stays in the processor's
 * cache, where new memory for each body does not. A body over `bytesMax` gets memory of its own.
 */
export class InflateRoom {
  readonly bytesMax: number;
  #room: Room | null = null;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** At least so many bytes, holding whatever they held. */
  take(length: number): Room {
    if (this.#room !== null && length <= this.#room.bytes.length) return this.#room;
    const room = open(length);
    if (length <= this.bytesMax) this.#room = room;
    return room;
  }
}

function open(length: number): Room {
  const bytes = Buffer.allocUnsafeSlow(length);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, length) };
}
