import { Duplex } from 'node:stream';

/** Frames of all connections together, and of one of them, until the event loop does something else. */
const FRAMES_A_TURN = 128;
const FRAMES_OF_CONNECTION_A_TURN = 32;
/** Size of the preface, with which an HTTP/2 connection begins, before its first frame. */
const PREFACE_BYTES = 24;
const HEAD_BYTES = 9;
const LENGTH_BYTES = 3;
const TYPE_AT = 3;
const FLAGS_AT = 4;
const DATA = 0;
const END_STREAM = 1;
/** Pieces of bodies on a connection whose size does not count: short bodies have few. */
const PIECES_OF_ANY_SIZE = 256;

export interface Paced extends Duplex {
  /** Lets nothing through from now on, or goes on. What the client sends meanwhile waits in the network. */
  hold(isHeld: boolean): void;
}

/**
 * Lets the frames of HTTP/2 connections through a few at a time. A read of 64 KiB holds 2,200 calls that are reset as they
 * begin, or 6,500 pieces of a body, and Node's HTTP/2 handles all of a read at once, before anybody can object.
 */
export class FramePacer {
  readonly #pieceBytesMin: number;
  /** Connections with frames that have not been let through, in the order of their turns. */
  readonly #waiting = new Set<PacedConnection>();
  #isScheduled = false;

  /** Creates a pacer; `pieceBytesMin` is the minimum average size of the pieces in which bodies arrive. */
  constructor({ pieceBytesMin = 0 }: { readonly pieceBytesMin?: number } = {}) {
    this.#pieceBytesMin = pieceBytesMin;
  }

  /**
   * Paces what arrives over the socket from now on; what is written to it passes unchanged. `refuse` is called once
   * when bodies arrive in pieces that are too small, of which nothing more is let through; it is to close the
   * connection.
   */
  pace(socket: Duplex, refuse = (): void => void socket.destroy()): Paced {
    const wait = (): void => {
      this.#waiting.add(connection);
      this.#schedule();
    };
    const connection: PacedConnection = new PacedConnection(socket, {
      wait,
      refuse,
      pieceBytesMin: this.#pieceBytesMin,
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

interface PacedOptions {
  readonly wait: () => void;
  readonly refuse: () => void;
  readonly pieceBytesMin: number;
}

class PacedConnection extends Duplex implements Paced {
  readonly #socket: Duplex;
  readonly #options: PacedOptions;
  /** Bytes received and not let through yet. */
  #pending: Buffer | null = null;
  #hasEnded = false;
  /** Bytes to the end of the frame that was begun. */
  #frameLeft = PREFACE_BYTES;
  /** Bytes received of the head of a frame, and the length that it declares. */
  #headBytes = 0;
  #length = 0;
  #type = 0;
  #flags = 0;
  /** Frames with a piece of a body that goes on after it, and their bytes. */
  #pieces = 0;
  #pieceBytes = 0;
  #isHeld = false;

  constructor(socket: Duplex, options: PacedOptions) {
    super();
    this.#socket = socket;
    this.#options = options;
    socket
      .on('data', (bytes: Buffer) => {
        socket.pause();
        this.#pending = bytes;
        if (!this.#isHeld) options.wait();
      })
      .once('end', () => {
        this.#hasEnded = true;
        if (this.#pending === null) this.push(null);
      })
      .once('close', () => this.destroy());
  }

  get isWaiting(): boolean {
    return this.#pending !== null && !this.#isHeld && !this.destroyed;
  }

  hold(isHeld: boolean): void {
    if (this.#isHeld === isHeld) return;
    this.#isHeld = isHeld;
    if (isHeld) this.#socket.pause();
    else if (this.#pending !== null) this.#options.wait();
    else this.#socket.resume();
  }

  /** Lets through at most this many frames, and what was received of the last one; returns their number. */
  letThrough(framesMax: number): number {
    const bytes = this.#pending;
    if (bytes === null || !this.isWaiting) return 0;
    let frames = 0;
    let at = 0;
    while (at < bytes.length) {
      if (this.#frameLeft > 0) {
        const part = Math.min(this.#frameLeft, bytes.length - at);
        this.#frameLeft -= part;
        at += part;
      } else if (frames < framesMax) {
        const byte = bytes.readUInt8(at);
        if (this.#headBytes < LENGTH_BYTES) this.#length = this.#length * 256 + byte;
        else if (this.#headBytes === TYPE_AT) this.#type = byte;
        else if (this.#headBytes === FLAGS_AT) this.#flags = byte;
        this.#headBytes += 1;
        at += 1;
        if (this.#headBytes < HEAD_BYTES) continue;
        frames += 1;
        if (this.#arePiecesTooSmall()) {
          this.#pending = null;
          this.#options.refuse();
          return frames;
        }
        this.#frameLeft = this.#length;
        this.#length = this.#headBytes = 0;
      } else break;
    }
    this.#pending = at < bytes.length ? bytes.subarray(at) : null;
    const isWanted = this.push(bytes.subarray(0, at));
    if (this.#pending !== null) return frames;
    if (this.#hasEnded) this.push(null);
    else if (isWanted && !this.#isHeld) this.#socket.resume();
    return frames;
  }

  /** Counts a frame whose head has come. */
  #arePiecesTooSmall(): boolean {
    if (this.#type !== DATA || (this.#flags & END_STREAM) !== 0) return false;
    this.#pieces += 1;
    this.#pieceBytes += this.#length;
    return this.#pieces > PIECES_OF_ANY_SIZE && this.#pieceBytes < this.#pieces * this.#options.pieceBytesMin;
  }

  override _read(): void {
    if (this.#pending === null && !this.#isHeld) this.#socket.resume();
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
