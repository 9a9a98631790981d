const LINE_BREAK = 0x0a;

/** Reads a stream in pieces of given lengths. */
export class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns exactly `length` bytes; null if the stream ends before. */
  async read(length: number): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    let missing = length;
    for (;;) {
      const taken = this.#buffer.subarray(0, missing);
      this.#buffer = this.#buffer.subarray(taken.length);
      missing -= taken.length;
      if (taken.length > 0) parts.push(taken);
      if (missing === 0) return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
      if (!(await this.#fill())) return null;
    }
  }

  /** Returns the line up to and including the first line break; null if there is none within `bytesMax` bytes. */
  async readLine(bytesMax: number): Promise<Buffer | null> {
    while (!this.#buffer.subarray(0, bytesMax).includes(LINE_BREAK)) {
      if (this.#buffer.length >= bytesMax) return null;
      const before = this.#buffer;
      if (!(await this.#fill())) return null;
      this.#buffer = Buffer.concat([before, this.#buffer]);
    }
    return await this.read(this.#buffer.indexOf(LINE_BREAK) + 1);
  }

  /** Replaces the buffer, which is used up, with the next chunk. */
  async #fill(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done === true) return false;
    this.#buffer = value;
    return true;
  }
}
