import { pause } from './alarms.ts';
import type { AccountNumber, Exchange } from './exchange.ts';
import type { Faults } from './faults.ts';
import { textOf, type Form } from './forms.ts';
import type { MessageStatus, PhoneMessage } from './message.ts';
import type { Reports } from './reports.ts';
import { errorText, requireReachable, TwilioRefusal } from './twilio_errors.ts';

const BODY_MAX = 1_600;

interface Parts {
  readonly exchange: Exchange;
  readonly faults: Faults;
  readonly reports: Reports;
  readonly optOuts: OptOuts;
  readonly delayMs: number;
}

/** Messages from the product to a person: what Twilio accepts, and how they travel. */
export class Messaging {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Accepts a checked form and sends the message. Throws TwilioRefusal. */
  accept(form: Form): PhoneMessage {
    const { exchange, optOuts } = this.#parts;
    const to = textOf(form, 'To') ?? '';
    const body = textOf(form, 'Body') ?? '';
    const sender = this.#senderOf(form, to);
    if (body === '') throw new TwilioRefusal(21602);
    if (body.length > BODY_MAX) throw new TwilioRefusal(21617);
    if (optOuts.has(to, sender.e164)) throw new TwilioRefusal(21610);
    const message = exchange.addMessage({
      direction: 'outbound-api',
      from: sender.e164,
      to,
      body,
      status: 'queued',
      statusCallback: textOf(form, 'StatusCallback') ?? null,
    });
    void exchange.track(this.#travel(message));
    return message;
  }

  /** Sends an answer to an incoming SMS: TwiML's Message verb, or the network's own words. */
  answer(details: Pick<PhoneMessage, 'from' | 'to' | 'body'>): PhoneMessage {
    const { exchange, optOuts } = this.#parts;
    if (optOuts.has(details.to, details.from)) {
      const refused = { status: 'failed', errorCode: 21610, errorMessage: errorText(21610) } as const;
      return exchange.addMessage({ ...details, ...refused, direction: 'outbound-reply' });
    }
    const message = exchange.addMessage({ ...details, direction: 'outbound-reply', status: 'queued' });
    void exchange.track(this.#travel(message));
    return message;
  }

  #senderOf(form: Form, to: string): AccountNumber {
    const { exchange } = this.#parts;
    requireReachable(to);
    const from = textOf(form, 'From') || undefined;
    if (from === to) throw new TwilioRefusal(21266);
    if (from === undefined) throw new TwilioRefusal(21603);
    const sender = exchange.numberOf(from);
    if (sender === undefined) throw new TwilioRefusal(21606);
    return sender;
  }

  async #travel(message: PhoneMessage): Promise<void> {
    const { exchange, faults, delayMs } = this.#parts;
    const point = { on: 'message', number: message.to } as const;
    const fault = faults.take(['failed', 'undelivered', 'no_report'], point);
    await pause(delayMs);
    if (fault?.kind === 'failed') {
      this.#fail(message, 'failed', fault.errorCode ?? 30008);
      return;
    }
    this.#move(message, 'sending');
    await pause(delayMs);
    this.#move(message, 'sent', { sentAtMs: exchange.now() }, fault?.kind === 'no_report');
    if (fault?.kind === 'no_report') return;
    await pause(delayMs);
    if (fault?.kind === 'undelivered') this.#fail(message, 'undelivered', fault.errorCode);
    else this.#move(message, 'delivered', {}, true);
  }

  #fail(message: PhoneMessage, status: 'failed' | 'undelivered', errorCode: number): void {
    this.#move(message, status, { errorCode, errorMessage: errorText(errorCode) }, true);
  }

  #move(message: PhoneMessage, status: MessageStatus, changes: Partial<PhoneMessage> = {}, isLast = false): void {
    const { exchange, reports } = this.#parts;
    exchange.moveMessage(message, status, changes);
    if (message.statusCallback === null) return;
    void reports.send({
      point: { on: 'message', number: message.to },
      isLast,
      webhook: {
        kind: 'message_status',
        sid: message.sid,
        url: message.statusCallback,
        params: {
          AccountSid: exchange.accountSid,
          ApiVersion: '2010-04-01',
          From: message.from,
          To: message.to,
          MessageSid: message.sid,
          MessageStatus: status,
          SmsSid: message.sid,
          SmsStatus: status,
          ...(message.errorCode !== null && { ErrorCode: String(message.errorCode) }),
        },
      },
    });
  }
}

const STOP = new Set(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'OPTOUT', 'REVOKE']);
const START = new Set(['START', 'YES', 'UNSTOP']);
const HELP = new Set(['HELP', 'INFO']);

/** Twilio's own answers; an application never sees them. */
const ANSWERS = {
  stop:
    'You have successfully been unsubscribed. You will not receive any more messages from this number. ' +
    'Reply START to resubscribe.',
  start:
    'You have successfully been re-subscribed to messages from this number. Reply HELP for help. ' +
    'Reply STOP to unsubscribe. Msg&Data Rates May Apply.',
  help: 'Reply STOP to unsubscribe. Msg&Data Rates May Apply.',
} as const;

type Keyword = keyof typeof ANSWERS;

/** The people who have stopped messages from a number of the account. */
export class OptOuts {
  readonly #pairs = new Set<string>();

  has(person: string, accountNumber: string): boolean {
    return this.#pairs.has(`${person} ${accountNumber}`);
  }

  add(person: string, accountNumber: string): void {
    this.#pairs.add(`${person} ${accountNumber}`);
  }

  remove(person: string, accountNumber: string): void {
    this.#pairs.delete(`${person} ${accountNumber}`);
  }

  clear(): void {
    this.#pairs.clear();
  }
}

/** The network's keyword, when the whole text is one; null for ordinary texts. */
export function findKeyword(text: string): Keyword | null {
  const word = text.trim().toUpperCase();
  if (STOP.has(word)) return 'stop';
  if (START.has(word)) return 'start';
  return HELP.has(word) ? 'help' : null;
}

export const keywordAnswer = (keyword: Keyword): string => ANSWERS[keyword];
