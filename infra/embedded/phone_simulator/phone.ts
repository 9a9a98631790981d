/** The public interface of the phone simulator: nothing else is imported from outside. */
import type { Socket } from 'node:net';

import type { PhoneCall } from './call.ts';
import type { AccountNumber, Exchange, PhoneCallback, PhoneRequest } from './exchange.ts';
import type { Fault } from './faults.ts';
import type { PhoneMessage } from './message.ts';
import { createNetwork, serveNetwork } from './network.ts';
import type { People } from './people.ts';

export { spokenText } from './call.ts';
export type { Fault, PhoneRequest };

const KEEP = 5_000;
const TIMEOUT_MS = 30_000;

export interface PhoneOptions {
  /** 0, the default, takes any free port; null takes none, for a simulator that is given its connections (`take`). */
  readonly port?: number | null;
  /** Pages and the control API are below this secret path, so that only those who know it use the phones. */
  readonly token?: string;
  readonly accountSid: string;
  readonly authToken: string;
  /** Numbers of the account, one at least. */
  readonly numbers: readonly AccountNumber[];
  /** Real time between the steps of a message or call, default 0. */
  readonly delayMs?: number;
  /** Maps a public address to the one to connect to. Signatures always cover the public one. */
  readonly publicUrlRewrite?: (url: string) => string;
  /** Milliseconds since 1970. When given, nothing rings out or falls silent by itself: call `elapse` after moving it. */
  readonly now?: () => number;
  /** Number of messages, calls, requests and call-backs that are kept of each, default 5,000. */
  readonly keep?: number;
}

interface MessageQuery {
  readonly to?: string;
  readonly matching?: RegExp;
  /** Real milliseconds, default 30,000. */
  readonly timeoutMs?: number;
}

/** A Twilio account, its numbers and everybody's phones. What people can do is declared in `People`. */
export interface Phone extends Pick<
  People,
  'reply' | 'answer' | 'press' | 'staySilent' | 'hangUp' | 'reject' | 'letRing'
> {
  /** `http://127.0.0.1:port`: the web page, and the base address for the twilio library. */
  readonly url: string;
  /** Answers a connection that another process accepted. */
  take(connection: Socket): void;
  /** Everything kept, oldest first; the records are live. */
  readonly messages: readonly PhoneMessage[];
  readonly calls: readonly PhoneCall[];
  readonly requests: readonly PhoneRequest[];
  readonly callbacks: readonly PhoneCallback[];
  /** The oldest message that fits, now or as soon as there is one; rejects after `timeoutMs`. */
  waitForMessage(query: MessageQuery): Promise<PhoneMessage>;
  /** Resolves when no message or call is between two steps and no call-back waits for its answer. */
  settled(): Promise<void>;
  /** Runs everything that is due by `now`: time-outs of calls, silence in a call, late call-backs. */
  elapse(): Promise<void>;
  addFault(fault: Fault): () => void;
  /** Sends what `callback_held` held back; returns how many call-backs that were. */
  releaseCallbacks(): Promise<number>;
  /** Forgets all messages, calls, faults and opt-outs, and what was still to come of them. */
  clear(): void;
  /** Cuts every connection. May be called twice. */
  close(): Promise<void>;
}

/** Starts the simulator on the loopback interface. Rejects when the port is taken. */
export async function startPhone(options: PhoneOptions): Promise<Phone> {
  const { accountSid, authToken, numbers, delayMs = 0, now = Date.now, keep = KEEP } = options;
  const { publicUrlRewrite: rewrite = (url: string) => url } = options;
  const isAutomatic = options.now === undefined;
  const network = createNetwork({ accountSid, authToken, numbers, delayMs, rewrite, now, isAutomatic, keep });
  const { alarms, exchange, faults, optOuts, people, reports } = network;
  const { port = 0, token } = options;
  const { url, take, close } = await serveNetwork(network, port, token);
  return {
    url,
    take,
    get messages() {
      return exchange.messages.all();
    },
    get calls() {
      return exchange.calls.all();
    },
    get requests() {
      return exchange.requests.all();
    },
    get callbacks() {
      return exchange.callbacks.all();
    },
    waitForMessage: (query) => waitForMessage(exchange, query),
    settled: () => exchange.settled(),
    elapse: () => alarms.elapse(),
    reply: (reply) => people.reply(reply),
    answer: (call, by) => people.answer(call, by),
    press: (call, keys) => people.press(call, keys),
    staySilent: (call) => people.staySilent(call),
    hangUp: (call) => people.hangUp(call),
    reject: (call) => people.reject(call),
    letRing: (call) => people.letRing(call),
    addFault: (fault) => faults.add(fault),
    releaseCallbacks: () => reports.release(),
    clear() {
      alarms.clear();
      reports.clear();
      faults.clear();
      optOuts.clear();
      for (const journal of [exchange.messages, exchange.calls, exchange.requests, exchange.callbacks]) journal.clear();
    },
    close,
  };
}

/** The oldest message that fits, now or as soon as there is one. Rejects with what was seen when time is up. */
async function waitForMessage(exchange: Exchange, query: MessageQuery): Promise<PhoneMessage> {
  const { events, messages } = exchange;
  const isMatch = ({ to, body }: PhoneMessage): boolean =>
    (query.to === undefined || query.to === to) && (query.matching?.test(body) ?? true);
  const existing = messages.all().find(isMatch);
  if (existing !== undefined) return existing;
  const { promise, resolve, reject } = Promise.withResolvers<PhoneMessage>();
  const listener = (message: PhoneMessage): void => {
    if (isMatch(message)) resolve(message);
  };
  events.on('message', listener);
  const timer = setTimeout(() => {
    const seen = messages.all().map(({ from, to, status, body }) => `${from} → ${to} ${status}: ${body}`);
    const wanted = `${query.to ?? 'anyone'} ${query.matching ?? ''}`;
    reject(new Error(`no message for ${wanted}; seen:\n${seen.slice(-10).join('\n') || 'none'}`));
  }, query.timeoutMs ?? TIMEOUT_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    events.off('message', listener);
  }
}
