/** Limit on the bytes that wait to be read; a datagram that finds no room is dropped. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
/** Longest line that is read; clients send up to 8 kB in a datagram. */
const LINE_BYTES_MAX = 16 * 1024;
/**
 * Time for which lines are read in one turn of the event loop, so that other work gets its turn however many datagrams
 * come.
 */
const SLICE_MS = 4;
const NEWLINE = 0x0a;

interface Datagram {
  readonly bytes: Buffer;
  readonly address: string;
}

interface DatagramReaderOptions {
  readonly take: (line: string, address: string) => void;
  /** Lines that are not read. */
  readonly drop: (lines: number) => void;
}

/** Reads datagrams line by line, a few milliseconds at a time. */
export class DatagramReader {
  readonly #options: DatagramReaderOptions;
  #waiting: Datagram[] = [];
  #waitingBytes = 0;
  #reading: Promise<void> | null = null;

  constructor(options: DatagramReaderOptions) {
    this.#options = options;
  }

  push(bytes: Buffer, address: string): void {
    if (this.#waitingBytes + bytes.length > WAITING_BYTES_MAX) {
      this.#options.drop(1);
      return;
    }
    this.#waitingBytes += bytes.length;
    this.#waiting.push({ bytes, address });
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
  }

  /** Resolves once everything that has arrived is read. */
  async drain(): Promise<void> {
    await this.#reading;
  }

  async #read(): Promise<void> {
    await nextImmediate();
    let until = performance.now() + SLICE_MS;
    while (this.#waiting.length > 0) {
      const datagrams = this.#waiting;
      this.#waiting = [];
      for (const { bytes, address } of datagrams) {
        for (let start = 0; start < bytes.length;) {
          const end = endOfLine(bytes, start);
          if (end - start > LINE_BYTES_MAX) this.#options.drop(1);
          else if (end > start) this.#options.take(bytes.toString('utf8', start, end).trimEnd(), address);
          start = end + 1;
          if (performance.now() < until) continue;
          await nextImmediate();
          until = performance.now() + SLICE_MS;
        }
        this.#waitingBytes -= bytes.length;
      }
    }
  }
}

function endOfLine(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== NEWLINE) at += 1;
  return at;
}

function nextImmediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
