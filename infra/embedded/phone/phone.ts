import type { EventEmitter } from 'node:events';
import type { AddressInfo } from 'node:net';

import formbody from '@fastify/formbody';
import Fastify from 'fastify';

import { Alarms } from '#infra/embedded/phone/alarms.ts';
import type { PhoneCall } from '#infra/embedded/phone/call.ts';
import { controlApi } from '#infra/embedded/phone/control_api.ts';
import {
  Exchange,
  type AccountNumber,
  type PhoneCallback,
  type PhoneEvents,
  type PhoneRequest,
} from '#infra/embedded/phone/exchange.ts';
import { Faults, type Fault } from '#infra/embedded/phone/faults.ts';
import { Live } from '#infra/embedded/phone/live.ts';
import { answerOnlyThisMachine } from '#infra/embedded/phone/local_only.ts';
import type { PhoneMessage } from '#infra/embedded/phone/message.ts';
import { Messaging } from '#infra/embedded/phone/messaging.ts';
import { OptOuts } from '#infra/embedded/phone/opt_outs.ts';
import { phonePage } from '#infra/embedded/phone/page.ts';
import { People } from '#infra/embedded/phone/people.ts';
import { Reports } from '#infra/embedded/phone/reports.ts';
import { twilioRest } from '#infra/embedded/phone/rest.ts';
import { Switchboard } from '#infra/embedded/phone/switchboard.ts';
import {
  waitForCall,
  waitForMessage,
  type CallQuery,
  type Mark,
  type MessageQuery,
} from '#infra/embedded/phone/waiting.ts';
import { createAsk } from '#infra/embedded/phone/webhooks.ts';

const KEEP = 5_000;

export interface PhoneOptions {
  /** Absent or 0: any free port. */
  readonly port?: number;
  /** Given: pages and the control API are below this path, so that only who knows it uses the phones. */
  readonly token?: string;
  readonly accountSid: string;
  readonly authToken: string;
  /** At least one. */
  readonly numbers: readonly AccountNumber[];
  /** Real time between the steps of a message or call, default 0. */
  readonly delayMs?: number;
  /** Where to connect for an address the product gave; signatures are always over the address itself. */
  readonly publicUrlRewrite?: (url: string) => string;
  /** Milliseconds since 1970. Given, nothing rings out or falls silent by itself: call `elapse` after moving it. */
  readonly now?: () => number;
  /** How many messages, calls, requests and call-backs are kept of each, default 5,000. */
  readonly keep?: number;
}

/** A Twilio account, its numbers and everybody's phones. What people do is in `People`. */
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
  /** Now, for `after`. */
  mark(): Mark;
  /** The oldest message that fits, now or as soon as there is one; rejects after `timeoutMs`. */
  waitForMessage(query: MessageQuery): Promise<PhoneMessage>;
  /** As for messages. Without a `status` it waits until the call has begun to ring. */
  waitForCall(query: CallQuery): Promise<PhoneCall>;
  /** Resolves when no message or call is between two steps and no call-back waits for its answer. */
  settled(): Promise<void>;
  /** Lets everything happen that is due by `now`: ringing out, silence in a call, late call-backs. */
  elapse(): Promise<void>;
  /** Returns how to take the fault back. */
  addFault(fault: Fault): () => void;
  clearFaults(): void;
  /** Sends what `callback_held` held back; returns how many call-backs that were. */
  releaseCallbacks(): Promise<number>;
  /** Whether the person stopped messages from this number of the account, default the first. */
  isOptedOut(person: string, accountNumber?: string): boolean;
  /** Cuts every connection. May be called twice. */
  close(): Promise<void>;
}

/** Starts the simulator on the loopback interface. Rejects when the port is taken. */
export async function startPhone(options: PhoneOptions): Promise<Phone> {
  const { port = 0, accountSid, authToken, numbers, token, delayMs = 0, now = Date.now, keep = KEEP } = options;
  const prefix = token === undefined ? '' : `/${token}`;
  const { publicUrlRewrite: rewrite = (url: string) => url } = options;
  const closing = new AbortController();
  const exchange = new Exchange({ accountSid, numbers, now, keep });
  const faults = new Faults();
  const alarms = new Alarms(now, options.now === undefined);
  const ask = createAsk({ exchange, authToken, rewrite, closing: closing.signal });
  const reports = new Reports({ exchange, ask, faults, alarms, keep });
  const optOuts = new OptOuts();
  const messaging = new Messaging({ exchange, faults, reports, optOuts, delayMs });
  const switchboard = new Switchboard({ exchange, faults, reports, alarms, ask, delayMs });
  const people = new People({ exchange, messaging, switchboard, reports, optOuts });
  const live = new Live(exchange);

  const app = Fastify({ forceCloseConnections: true });
  app.addHook('onRequest', answerOnlyThisMachine);
  await app.register(
    async (rest) => {
      await rest.register(formbody);
      await twilioRest(rest, { exchange, messaging, switchboard, faults, authToken });
    },
    { prefix: '/2010-04-01' },
  );
  await app.register(async (api) => controlApi(api, { exchange, people, faults, reports }), {
    prefix: `${prefix}/phone/api`,
  });
  await app.register(async (page) => phonePage(page, { exchange, live }), { prefix });
  await app.listen({ port, host: '127.0.0.1' });

  return {
    url: `http://127.0.0.1:${portOf(app.server.address())}`,
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
    isOptedOut: (person, accountNumber = numbers[0]?.e164 ?? '') => optOuts.has(person, accountNumber),
    close: async () => {
      alarms.clear();
      closing.abort();
      live.close();
      await app.close();
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the simulator does not listen on a port');
  return address.port;
}
