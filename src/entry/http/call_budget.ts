import type { FastifyInstance } from 'fastify';

import { senderOf } from '#entry/http/sender.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import type { Caller } from '#core/access/caller.ts';
import { AppError } from '#kernel/errors.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { LimitLog } from '#kernel/limit_log.ts';
import type { SharedLimit } from '#kernel/shared_limit.ts';
import { systemClock } from '#kernel/time.ts';

/** What one key, connected app or person may ask of all processes together. */
export interface CallLimits {
  /** On average; a minute's worth at once. 0 for no limit. */
  readonly callsPerMinute: number;
  /** Bytes of answers, on average; 0 for no limit. */
  readonly answerBytesPerMinute: number;
}

/** In this process: fewer than its connections to the database, and few enough of one caller that the others hardly notice. */
const RUNNING = { concurrency: 16, concurrencyPerKey: 4 };
/** More of one caller than this is refused instead of waiting. */
const WAITING_OF_ONE_MAX = 100;

/** Bounds what each caller may run at a time, ask in a minute, and get back in a minute. */
export class CallBudget {
  readonly #limits: CallLimits;
  readonly #limitLog: LimitLog;
  readonly #running = new KeyedLimit(RUNNING);
  /** Null for no limit. */
  readonly #calls: SharedLimit | null;
  readonly #bytes: SharedLimit | null;

  constructor(limits: CallLimits, limitLog: LimitLog, { openLimit }: Pick<SharedLimits, 'openLimit'>) {
    this.#limits = limits;
    this.#limitLog = limitLog;
    // Real time, not the injected clock: this bounds work.
    const open = (name: string, aMinute: number): SharedLimit | null =>
      aMinute === 0 ? null : openLimit(name, { burst: aMinute, perSecond: aMinute / 60 }, systemClock);
    this.#calls = open('calls', limits.callsPerMinute);
    this.#bytes = open('answer bytes', limits.answerBytesPerMinute);
  }

  /** Counts the bytes of every answer to a known caller. */
  mount(app: FastifyInstance): void {
    app.addHook('onSend', async (request, _reply, payload) => {
      const sender = senderOf(request);
      if (sender === undefined) return;
      if (typeof payload === 'string' || Buffer.isBuffer(payload)) this.#bytes?.spend(sender, payload.length);
    });
  }

  /** Runs a call of this sender (see `senderIdOf`) when its turn comes. Throws `rate_limited`, naming the limit, when the caller has used theirs up. */
  async run<Result>(sender: string, work: () => Promise<Result>): Promise<Result> {
    await this.#spend(sender);
    if (this.#running.countOf(sender) >= WAITING_OF_ONE_MAX) {
      this.#limitLog.met('concurrent_calls', sender);
      throw new AppError(
        'rate_limited',
        `more than ${WAITING_OF_ONE_MAX} calls of yours are waiting; send fewer at once`,
        {
          retryAfterSeconds: 1,
        },
      );
    }
    return await this.#running.run(sender, work);
  }

  async #spend(sender: string): Promise<void> {
    const { callsPerMinute, answerBytesPerMinute } = this.#limits;
    const secondsOfBytes = (await this.#bytes?.take(sender)) ?? 0;
    if (secondsOfBytes > 0) {
      this.#limitLog.met('answer_bytes_per_minute', sender);
      const megabytes = Math.round(answerBytesPerMinute / 1_048_576);
      throw limited(`your answers come to more than ${megabytes} MB a minute`, secondsOfBytes);
    }
    const secondsOfCalls = (await this.#calls?.take(sender, 1)) ?? 0;
    if (secondsOfCalls === 0) return;
    this.#limitLog.met('calls_per_minute', sender);
    throw limited(`you make more than ${callsPerMinute} calls a minute`, secondsOfCalls);
  }
}

function limited(what: string, retryAfterSeconds: number): AppError {
  return new AppError('rate_limited', `${what}; wait and send fewer`, { retryAfterSeconds });
}

/** Each key and each connected app has a budget of its own, and so has a person in the console. */
export function senderIdOf({ actor }: Caller): string {
  switch (actor.kind) {
    case 'user':
      return actor.connection?.connectionId ?? actor.apiKeyId ?? actor.userId;
    case 'api_key':
      return actor.apiKeyId;
    case 'system':
      return 'system';
  }
}
