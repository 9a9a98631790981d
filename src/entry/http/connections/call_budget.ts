import type { FastifyInstance } from 'fastify';

import { senderOf } from '#entry/http/connections/sender.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { AppError } from '#kernel/errors.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { ReachedLimits } from '#kernel/reached_limits.ts';
import type { LimitName, Limits } from '#kernel/limit_settings.ts';
import type { SharedLimit } from '#kernel/shared_limit.ts';
import { systemClock } from '#kernel/time.ts';

/** Limits on the calls of a key, connected app or person: per minute in all processes, and concurrently in this one. */
export type CallLimits = Pick<Limits, 'callsPerMinute' | 'answerMegabytesPerMinute' | 'callsAtOnce' | 'callsWaiting'>;

/** Calls run concurrently in this process: fewer than its connections to the database. */
const CONCURRENCY = 16;
const MEGABYTE = 1024 * 1024;

/** Bounds each caller's concurrent calls, calls per minute, and bytes of answers per minute. */
export class CallBudget {
  readonly #limits: CallLimits;
  readonly #reachedLimits: ReachedLimits;
  readonly #running: KeyedLimit;
  /** Null for no limit. */
  readonly #calls: SharedLimit | null;
  readonly #bytes: SharedLimit | null;

  constructor(limits: CallLimits, reachedLimits: ReachedLimits, { openLimit }: Pick<SharedLimits, 'openLimit'>) {
    this.#limits = limits;
    this.#reachedLimits = reachedLimits;
    this.#running = new KeyedLimit({ concurrency: CONCURRENCY, concurrencyPerKey: limits.callsAtOnce });
    // Real time, not the injected clock: this bounds work.
    const open = (name: string, aMinute: number): SharedLimit | null =>
      aMinute === 0 ? null : openLimit(name, { burst: aMinute, perSecond: aMinute / 60 }, systemClock);
    this.#calls = open('calls', limits.callsPerMinute);
    this.#bytes = open('answer bytes', limits.answerMegabytesPerMinute * MEGABYTE);
  }

  /** Counts the bytes of every answer to a known caller. */
  mount(app: FastifyInstance): void {
    app.addHook('onSend', async (request, _reply, payload) => {
      const sender = senderOf(request);
      if (sender === undefined) return;
      if (typeof payload === 'string' || Buffer.isBuffer(payload)) this.#bytes?.spend(sender, payload.length);
    });
  }

  /**
   * Runs a call of this sender (see `senderIdOf`) when its turn comes. Throws `rate_limited`, naming the limit, if the
   * caller has used it up.
   */
  async run<Result>(sender: string, work: () => Promise<Result>): Promise<Result> {
    try {
      await this.#spend(sender);
      this.#requireTurn(sender);
      return await this.#running.run(sender, work);
    } catch (error) {
      if (error instanceof AppError) this.#reachedLimits.recordRefusal(error, sender);
      throw error;
    }
  }

  #requireTurn(sender: string): void {
    const { callsWaiting } = this.#limits;
    if (this.#running.countOf(sender) < callsWaiting) return;
    throw new AppError('rate_limited', `more than ${callsWaiting} calls of yours are waiting; send fewer at once`, {
      limit: 'callsWaiting',
      retryAfterSeconds: 1,
    });
  }

  async #spend(sender: string): Promise<void> {
    const { callsPerMinute, answerMegabytesPerMinute } = this.#limits;
    const secondsOfBytes = (await this.#bytes?.take(sender)) ?? 0;
    if (secondsOfBytes > 0) {
      const what = `your answers come to more than ${answerMegabytesPerMinute} MB a minute`;
      throw limited('answerMegabytesPerMinute', what, secondsOfBytes);
    }
    const secondsOfCalls = (await this.#calls?.take(sender, 1)) ?? 0;
    if (secondsOfCalls === 0) return;
    throw limited('callsPerMinute', `you make more than ${callsPerMinute} calls a minute`, secondsOfCalls);
  }
}

function limited(limit: LimitName, what: string, retryAfterSeconds: number): AppError {
  return new AppError('rate_limited', `${what}; wait and send fewer`, { limit, retryAfterSeconds });
}

/** Returns the id of the budget: each key and each connected app has its own, and so has a person in the console. */
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
