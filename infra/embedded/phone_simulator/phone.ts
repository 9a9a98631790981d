/** The public interface of the phone simulator: nothing else is imported from outside. */
import type { EventEmitter } from 'node:events';

import type { PhoneCall } from './call.ts';
import type { AccountNumber, PhoneCallback, PhoneEvents, PhoneRequest } from './exchange.ts';
import type { Fault } from './faults.ts';
import type { PhoneMessage } from './message.ts';
import { createNetwork, serveNetwork } from './network.ts';
import type { People } from './people.ts';
import { waitForCall, waitForMessage, type CallQuery, type Mark, type MessageQuery } from './waiting.ts';

export { spokenText } from './call.ts';
export type { Fault, PhoneRequest };

const KEEP = 5_000;

export interface PhoneOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
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

/** A Twilio account, its numbers and everybody's phones. What people can do is declared in `People`. */
export interface Phone extends Pick<
  People,
  'reply' | 'dial' | 'answer' | 'press' | 'staySilent' | 'hangUp' | 'reject' | 'letRing'
> {
  /** `http://127.0.0.1:port`: the web page, and the base address for the twilio library. */
  readonly url: string;
  readonly events: EventEmitter<PhoneEvents>;
  /** Everything kept, oldest first; the records are live. */
  readonly messages: readonly PhoneMessage[];
  readonly calls: readonly PhoneCall[];
  readonly requests: readonly PhoneRequest[];
  readonly callbacks: readonly PhoneCallback[];
  /** The current position, for `after`. */
  mark(): Mark;
  /** The oldest message that fits, now or as soon as there is one; rejects after `timeoutMs`. */
  waitForMessage(query: MessageQuery): Promise<PhoneMessage>;
  /** Waits as `waitForMessage` does. Without a `status` it waits until the call has begun to ring. */
  waitForCall(query: CallQuery): Promise<PhoneCall>;
  /** Resolves when no message or call is between two steps and no call-back waits for its answer. */
  settled(): Promise<void>;
  /** Runs everything that is due by `now`: time-outs of calls, silence in a call, late call-backs. */
  elapse(): Promise<void>;
  /** Returns a function that removes the fault. */
  addFault(fault: Fault): () => void;
  clearFaults(): void;
  /** Sends what `callback_held` held back; returns how many call-backs that were. */
  releaseCallbacks(): Promise<number>;
  /** Whether the person stopped messages from this number of the account, default the first. */
  isOptedOut(person: string, accountNumber?: string): boolean;
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
  const { url, close } = await serveNetwork(network, options.port ?? 0, options.token);
  return {
    url,
    events: exchange.events,
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
    mark: () => ({ seq: exchange.lastSeq }),
    waitForMessage: (query) => waitForMessage(exchange, query),
    waitForCall: (query) => waitForCall(exchange, query),
    settled: () => exchange.settled(),
    elapse: () => alarms.elapse(),
    reply: (reply) => people.reply(reply),
    dial: (from, to) => people.dial(from, to),
    answer: (call, by) => people.answer(call, by),
    press: (call, keys) => people.press(call, keys),
    staySilent: (call) => people.staySilent(call),
    hangUp: (call) => people.hangUp(call),
    reject: (call) => people.reject(call),
    letRing: (call) => people.letRing(call),
    addFault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    releaseCallbacks: () => reports.release(),
    clear() {
      alarms.clear();
      reports.clear();
      faults.clear();
      optOuts.clear();
      for (const journal of [exchange.messages, exchange.calls, exchange.requests, exchange.callbacks]) journal.clear();
    },
    isOptedOut: (person, accountNumber = numbers[0]?.e164 ?? '') => optOuts.has(person, accountNumber),
    close,
  };
}
