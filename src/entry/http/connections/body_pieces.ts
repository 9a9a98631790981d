import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Number of pieces for which the size does not count: short bodies and slow senders have few. */
const PIECES_OF_ANY_SIZE = 256;
/** Number of pieces after which small ones are merged. Most bodies have fewer. */
const PIECES_AS_THEY_COME = 16;
const SMALL_BYTES = 2 * 1024;
const BLOCK_BYTES = 16 * 1024;

/**
 * Returns a request class that bounds the pieces of bodies, such as HTTP chunks and network packets, to at least
 * `bytesMin` bytes on average. A piece costs about half a microsecond, of which some 100,000 may be read before
 * anything else is done, and some hundred bytes while it is held: so small pieces are merged, and bodies with smaller
 * ones are refused. `refuse` is called once, and has to close the connection.
 */
export function requestsInPieces(bytesMin: number, refuse: (socket: Socket) => void): typeof IncomingMessage {
  return class RequestInPieces extends IncomingMessage {
    #pieces = 0;
    #bytes = 0;
    #isRefused = false;
    #block = Buffer.alloc(0);
    #from = 0;
    #to = 0;
    #isPushLater = false;

    override push(piece: unknown, encoding?: BufferEncoding): boolean {
      if (this.#isRefused) return false;
      if (!Buffer.isBuffer(piece)) {
        this.#pushGathered();
        return super.push(piece, encoding);
      }
      this.#pieces += 1;
      this.#bytes += piece.length;
      if (this.#pieces > PIECES_OF_ANY_SIZE && this.#bytes < this.#pieces * bytesMin) {
        this.#isRefused = true;
        refuse(this.socket);
        return false;
      }
      if (this.#pieces > PIECES_AS_THEY_COME && piece.length < SMALL_BYTES) return this.#gather(piece);
      this.#pushGathered();
      return super.push(piece, encoding);
    }

    /** Discards a body that nobody has begun to read. Node's own does so without counting the pieces. */
    _dump(): void {
      this.resume();
    }

    /** Collects a small piece; the block is passed on once everything that has arrived was read, or when it is full. */
    #gather(piece: Buffer): boolean {
      let hasRoom = true;
      if (this.#to + piece.length > this.#block.length) {
        hasRoom = this.#pushGathered();
        this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
        this.#from = 0;
        this.#to = 0;
      }
      this.#to += piece.copy(this.#block, this.#to);
      if (this.#isPushLater) return hasRoom;
      this.#isPushLater = true;
      setImmediate(() => {
        this.#isPushLater = false;
        if (!this.#pushGathered()) this.socket.pause();
      });
      return hasRoom;
    }

    #pushGathered(): boolean {
      if (this.#from === this.#to || this.destroyed) return true;
      const gathered = this.#block.subarray(this.#from, this.#to);
      this.#from = this.#to;
      return super.push(gathered);
    }
  };
}
