import { Duplex } from 'node:stream';

/** Frames of all connections together, and of one of them, until the event loop does something else. */
const FRAMES_A_TURN = 128;
const FRAMES_OF_CONNECTION_A_TURN = 32;
/** What an HTTP/2 connection begins with, before its first frame. */
const PREFACE_BYTES = 24;
const HEAD_BYTES = 9;
const LENGTH_BYTES = 3;

/**
 * Lets the frames of HTTP/2 connections through a few at a time. A read of 64 KiB holds 2,200 calls that are reset as they
 * begin, or 6,500 pieces of a body, and Node's HTTP/2 handles all of a read at once, before anybody can object.
 */
export class FramePacer {
  /** Those with frames that have not been let through, in the order of their turns. */
  readonly #waiting = new Set<PacedConnection>();
  #isScheduled = false;

  /** What comes over the socket from now on, paced, and what is written to it as it is. */
  pace(socket: Duplex): Duplex {
    const connection: PacedConnection = new PacedConnection(socket, () => {
      this.#waiting.add(connection);
      this.#schedule();
    });
    return connection.once('close', () => this.#waiting.delete(connection));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#letThrough();
      this.#schedule();
    });
  }

  #letThrough(): void {
    let left = FRAMES_A_TURN;
    for (const connection of this.#waiting.values().toArray()) {
      if (left <= 0) return;
      this.#waiting.delete(connection);
      left -= connection.letThrough(Math.min(left, FRAMES_OF_CONNECTION_A_TURN));
      if (connection.isWaiting) this.#waiting.add(connection);
    }
  }
}

class PacedConnection extends Duplex {
  readonly #socket: Duplex;
  /** What has come and was not let through yet. */
  #pending: Buffer | null = null;
  #hasEnded = false;
  /** Bytes to the end of the frame that was begun. */
  #frameLeft = PREFACE_BYTES;
  /** How much has come of the head of a frame, and what that says of its length. */
  #headBytes = 0;
  #length = 0;

  constructor(socket: Duplex, wait: () => void) {
    super();
    this.#socket = socket;
    socket
      .on('data', (bytes: Buffer) => {
        socket.pause();
        this.#pending = bytes;
        wait();
      })
      .once('end', () => {
        this.#hasEnded = true;
        if (this.#pending === null) this.push(null);
      })
      .once('close', () => this.destroy());
  }

  get isWaiting(): boolean {
    return this.#pending !== null && !this.destroyed;
  }

  /** At most so many frames, and what has come of the last one; returns how many. */
  letThrough(framesMax: number): number {
    const bytes = this.#pending;
    if (bytes === null || this.destroyed) return 0;
    let frames = 0;
    let at = 0;
    while (at < bytes.length) {
      if (this.#frameLeft > 0) {
        const part = Math.min(this.#frameLeft, bytes.length - at);
        this.#frameLeft -= part;
        at += part;
      } else if (frames < framesMax) {
        if (this.#headBytes < LENGTH_BYTES) this.#length = this.#length * 256 + bytes.readUInt8(at);
        this.#headBytes += 1;
        at += 1;
        if (this.#headBytes < HEAD_BYTES) continue;
        frames += 1;
        this.#frameLeft = this.#length;
        this.#length = this.#headBytes = 0;
      } else break;
    }
    this.#pending = at < bytes.length ? bytes.subarray(at) : null;
    const isWanted = this.push(bytes.subarray(0, at));
    if (this.#pending !== null) return frames;
    if (this.#hasEnded) this.push(null);
    else if (isWanted) this.#socket.resume();
    return frames;
  }

  override _read(): void {
    if (this.#pending === null) this.#socket.resume();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(bytes, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
