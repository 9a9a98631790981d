import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Transform, type TransformCallback } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { senderOf } from '#entry/http/connections/sender.ts';
import { AppError } from '#kernel/errors.ts';
import { networkOf } from '#kernel/ip_address.ts';
import type { LimitName, Limits } from '#kernel/limit_settings.ts';

/** Limits on the bytes of bodies that this process holds at a time, from their arrival until they are answered. */
interface BodyLimits {
  readonly totalBytesMax: number;
  /** Limit on all bodies without a key together: the rest of the total is reserved for valid keys. */
  readonly unauthenticatedBytesMax: number;
  /** Limit on the bodies of one service, key or session. */
  readonly senderBytesMax: number;
}

const MEGABYTE = 1024 * 1024;

export function bodyLimitsOf(limits: Limits): BodyLimits {
  return {
    totalBytesMax: limits.bodiesMegabytes * MEGABYTE,
    unauthenticatedBytesMax: limits.bodiesWithoutKeyMegabytes * MEGABYTE,
    senderBytesMax: limits.bodiesOfSenderMegabytes * MEGABYTE,
  };
}

const RETRY_AFTER_SECONDS = 2;

/**
 * Bounds the bytes of bodies in memory. A declared length counts at once; a chunked body as it arrives. If there is no
 * room, the answer is 503 with Retry-After, and nothing of the body is read.
 */
export class BodyBudget {
  readonly #limits: BodyLimits;
  readonly #held = new Map<string, number>();
  #total = 0;
  #unauthenticated = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  get totalBytes(): number {
    return this.#total;
  }

  /**
   * Counts the bodies of every route in a hook of the route. Such hooks run after those of its scope, so the sender is
   * known by then.
   */
  mount(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      const hooks = route.preParsing ?? [];
      route.preParsing = [
        ...(Array.isArray(hooks) ? hooks : [hooks]),
        (request, reply, payload, done) => {
          const declared = request.headers['content-length'];
          if (declared === undefined && request.headers['transfer-encoding'] === undefined) {
            done(null, payload);
            return;
          }
          const hold = this.#open(request);
          reply.raw.once('close', () => hold.release());
          try {
            if (declared !== undefined) {
              hold.add(Math.min(Number(declared), route.bodyLimit ?? Infinity));
              done(null, payload);
            } else {
              done(null, payload.pipe(new Counted((bytes) => hold.add(bytes))));
            }
          } catch (error) {
            done(error instanceof Error ? error : new Error(String(error)));
          }
        },
      ];
    });
  }

  #open(request: FastifyRequest): { add(bytes: number): void; release(): void } {
    const sender = senderOf(request);
    const who = sender ?? networkOf(request.ip);
    let held = 0;
    return {
      add: (bytes) => {
        this.#take(who, sender === undefined, bytes);
        held += bytes;
      },
      release: () => {
        this.#give(who, sender === undefined, held);
        held = 0;
      },
    };
  }

  #take(who: string, isUnauthenticated: boolean, bytes: number): void {
    const { totalBytesMax, unauthenticatedBytesMax, senderBytesMax } = this.#limits;
    const heldBytes = (this.#held.get(who) ?? 0) + bytes;
    if (heldBytes > senderBytesMax) throw refusal('bodiesOfSenderMegabytes');
    if (this.#total + bytes > totalBytesMax) throw refusal('bodiesMegabytes');
    if (isUnauthenticated && this.#unauthenticated + bytes > unauthenticatedBytesMax)
      throw refusal('bodiesWithoutKeyMegabytes');
    this.#held.set(who, heldBytes);
    this.#total += bytes;
    if (isUnauthenticated) this.#unauthenticated += bytes;
  }

  #give(who: string, isUnauthenticated: boolean, bytes: number): void {
    const heldBytes = (this.#held.get(who) ?? 0) - bytes;
    if (heldBytes > 0) this.#held.set(who, heldBytes);
    else this.#held.delete(who);
    this.#total -= bytes;
    if (isUnauthenticated) this.#unauthenticated -= bytes;
  }
}

function refusal(limit: LimitName): AppError {
  const message =
    limit === 'bodiesOfSenderMegabytes'
      ? 'you are sending too many bytes at once; send fewer requests at a time'
      : 'too many bytes are arriving at this server at once; send again shortly';
  return new AppError('unavailable', message, { limit, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Passes a body on and counts its bytes; a refusal ends it. */
class Counted extends Transform {
  readonly #count: (bytes: number) => void;

  constructor(count: (bytes: number) => void) {
    super();
    this.#count = count;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    try {
      this.#count(chunk.length);
      callback(null, chunk);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

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

/** Limit on the body of a request whose sender is not known yet. */
export const ANONYMOUS_BODY_BYTES_MAX = 16 * 1024;

/** Limit on the body of a request of Slack: a message has 40,000 characters at most, in its text and in its blocks. */
export const SLACK_BODY_BYTES_MAX = 256 * 1024;

/** Limit on a configuration file: thrice that of 3,000 people, 1,200 schedules and 300 policies. */
export const CONFIGURATION_BODY_BYTES_MAX = 4 * 1024 * 1024;

export const ACTION_BODY_BYTES_MAX = 1024 * 1024;
