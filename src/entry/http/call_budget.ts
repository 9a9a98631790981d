import type { FastifyInstance } from 'fastify';

import { senderOf } from '#entry/http/sender.ts';
import type { Caller } from '#core/access/caller.ts';
import { AppError } from '#kernel/errors.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { LimitLog } from '#kernel/limit_log.ts';

/** What one key, connected app or person may ask of this process. */
export interface CallLimits {
  /** On average; a minute's worth at once. 0 for no limit. */
  readonly callsPerMinute: number;
  /** Bytes of answers, on average; 0 for no limit. */
  readonly answerBytesPerMinute: number;
}

/** Fewer than the connections to the database, and few enough of one caller that the others hardly notice. */
const RUNNING = { concurrency: 16, concurrencyPerKey: 4 };
/** More of one caller than this is refused instead of waiting. */
const WAITING_OF_ONE_MAX = 100;
const SENDERS_REMEMBERED = 20_000;

/** What is left of one caller's minute. */
interface Account {
  calls: number;
  bytes: number;
  at: number;
}

/** Bounds what each caller may run at a time, ask in a minute, and get back in a minute. */
export class CallBudget {
  readonly #limits: CallLimits;
  readonly #limitLog: LimitLog;
  readonly #running = new KeyedLimit(RUNNING);
  readonly #accounts = new Map<string, Account>();

  constructor(limits: CallLimits, limitLog: LimitLog) {
    this.#limits = limits;
    this.#limitLog = limitLog;
  }

  /** Counts the bytes of every answer to a known caller. */
  mount(app: FastifyInstance): void {
    app.addHook('onSend', async (request, _reply, payload) => {
      const sender = senderOf(request);
      const account = sender === undefined ? undefined : this.#accounts.get(sender);
      if (account === undefined) return;
      if (typeof payload === 'string') account.bytes -= payload.length;
      else if (Buffer.isBuffer(payload)) account.bytes -= payload.length;
    });
  }

  /** Runs a call of this sender (see `senderIdOf`) when its turn comes. Throws `rate_limited`, naming the limit, when the caller has used theirs up. */
  async run<Result>(sender: string, work: () => Promise<Result>): Promise<Result> {
    this.#spend(sender);
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

  #spend(sender: string): void {
    const { callsPerMinute, answerBytesPerMinute } = this.#limits;
    const account = this.#accountOf(sender);
    if (callsPerMinute > 0 && account.calls < 1) {
      this.#limitLog.met('calls_per_minute', sender);
      throw limited(`you make more than ${callsPerMinute} calls a minute`, (1 - account.calls) / callsPerMinute);
    }
    if (answerBytesPerMinute > 0 && account.bytes < 0) {
      this.#limitLog.met('answer_bytes_per_minute', sender);
      const megabytes = Math.round(answerBytesPerMinute / 1_048_576);
      throw limited(`your answers come to more than ${megabytes} MB a minute`, -account.bytes / answerBytesPerMinute);
    }
    account.calls -= 1;
  }

  /** Real time, not the injected clock: this bounds work. */
  #accountOf(sender: string): Account {
    const { callsPerMinute, answerBytesPerMinute } = this.#limits;
    const now = performance.now();
    const known = this.#accounts.get(sender) ?? { calls: callsPerMinute, bytes: answerBytesPerMinute, at: now };
    const minutes = (now - known.at) / 60_000;
    known.calls = Math.min(callsPerMinute, known.calls + minutes * callsPerMinute);
    known.bytes = Math.min(answerBytesPerMinute, known.bytes + minutes * answerBytesPerMinute);
    known.at = now;
    this.#accounts.delete(sender);
    this.#accounts.set(sender, known);
    const oldest = this.#accounts.size > SENDERS_REMEMBERED ? this.#accounts.keys().next().value : undefined;
    if (oldest !== undefined) this.#accounts.delete(oldest);
    return known;
  }
}

function limited(what: string, minutes: number): AppError {
  return new AppError('rate_limited', `${what}; wait and send fewer`, {
    retryAfterSeconds: Math.max(1, Math.ceil(minutes * 60)),
  });
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
