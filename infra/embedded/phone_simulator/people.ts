import { NotPossible, type PhoneCall, type PickedUpBy } from './call.ts';
import type { AccountNumber, Exchange } from './exchange.ts';
import type { PhoneMessage } from './message.ts';
import { findKeyword, keywordAnswer, type Messaging, type OptOuts } from './messaging.ts';
import type { Reports } from './reports.ts';
import type { Switchboard } from './switchboard.ts';
import { isE164 } from './twilio_errors.ts';
import { parseTwiml, TwimlError } from './conversation.ts';
import type { WebhookAnswer } from './webhooks.ts';

interface Reply {
  readonly from: string;
  /** A number of the account; by default the one that wrote to this person last, else the first. */
  readonly to?: string;
  readonly body: string;
}

interface Parts {
  readonly exchange: Exchange;
  readonly messaging: Messaging;
  readonly switchboard: Switchboard;
  readonly reports: Reports;
  readonly optOuts: OptOuts;
}

/**
 * Actions of people with their phones. Every method resolves when the product has received it and answered. It throws
 * NotPossible when the state of the call does not allow it.
 */
export class People {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Texts the product. Its answer in TwiML arrives as messages of its own. */
  async reply({ from, to, body }: Reply): Promise<PhoneMessage> {
    const { exchange, reports } = this.#parts;
    if (!isE164(from)) throw new NotPossible(`not a phone number: ${from}`);
    const number = this.#receiverOf(from, to);
    const message = exchange.addMessage({ direction: 'inbound', from, to: number.e164, body, status: 'received' });
    this.#applyKeyword(message);
    await reports.send({
      point: { on: 'reply', number: from },
      isLast: true,
      onAnswer: async (answer) => this.#receive(message, answer),
      webhook: {
        kind: 'sms',
        sid: message.sid,
        url: number.smsUrl,
        params: {
          AccountSid: exchange.accountSid,
          ApiVersion: '2010-04-01',
          Body: body,
          From: from,
          To: number.e164,
          MessageSid: message.sid,
          NumMedia: '0',
          NumSegments: String(message.size.segments),
          SmsMessageSid: message.sid,
          SmsSid: message.sid,
          SmsStatus: 'received',
        },
      },
    });
    return message;
  }

  async answer(call: PhoneCall | string, by: PickedUpBy = 'human'): Promise<PhoneCall> {
    return this.#do(call, (ringing) => this.#parts.switchboard.answer(ringing, by));
  }

  async press(call: PhoneCall | string, keys: string): Promise<PhoneCall> {
    return this.#do(call, (ringing) => this.#parts.switchboard.press(ringing, keys));
  }

  /** The caller's wait for keys times out now. */
  async staySilent(call: PhoneCall | string): Promise<PhoneCall> {
    return this.#do(call, (ringing) => this.#parts.switchboard.staySilent(ringing));
  }

  async hangUp(call: PhoneCall | string): Promise<PhoneCall> {
    return this.#do(call, async (ringing) => this.#parts.switchboard.hangUp(ringing));
  }

  /** Declines a ringing call: it ends as busy. */
  async reject(call: PhoneCall | string): Promise<PhoneCall> {
    return this.#do(call, async (ringing) => this.#parts.switchboard.reject(ringing));
  }

  /** Nobody answers: the call times out now and ends as no-answer. */
  async letRing(call: PhoneCall | string): Promise<PhoneCall> {
    return this.#do(call, async (ringing) => this.#parts.switchboard.letRing(ringing));
  }

  async #do(call: PhoneCall | string, act: (call: PhoneCall) => Promise<void>): Promise<PhoneCall> {
    const sid = typeof call === 'string' ? call : call.sid;
    const phoneCall = this.#parts.exchange.calls.get(sid);
    if (phoneCall === undefined) throw new NotPossible(`no call ${sid}`);
    await act(phoneCall);
    return phoneCall;
  }

  #receiverOf(person: string, to: string | undefined): AccountNumber {
    const { exchange } = this.#parts;
    const lastSender = exchange.messages.newestFirst().find((message) => message.to === person)?.from;
    const wanted = to ?? lastSender ?? exchange.numbers[0]?.e164 ?? '';
    const number = exchange.numberOf(wanted);
    if (number === undefined) throw new NotPossible(`not a number of the account: ${wanted}`);
    return number;
  }

  /** The network answers STOP, START and HELP, before the product gets them. */
  #applyKeyword({ from, to, body }: PhoneMessage): void {
    const { optOuts, messaging } = this.#parts;
    const keyword = findKeyword(body);
    if (keyword === null) return;
    const wasOut = optOuts.has(from, to);
    if ((keyword === 'stop' && wasOut) || (keyword === 'start' && !wasOut)) return;
    if (keyword === 'start') optOuts.remove(from, to);
    messaging.answer({ from: to, to: from, body: keywordAnswer(keyword) });
    if (keyword === 'stop') optOuts.add(from, to);
  }

  #receive(message: PhoneMessage, answer: WebhookAnswer): void {
    const { exchange, messaging } = this.#parts;
    const say = (body: string) => messaging.answer({ from: message.to, to: message.from, body });
    if (answer.status === null || answer.status >= 400) {
      exchange.moveMessage(message, 'received', { errorCode: 11200, errorMessage: 'HTTP retrieval failure' });
    } else if (/^text\/plain\b/i.test(answer.contentType)) {
      if (answer.body !== '') say(answer.body);
    } else if (answer.body.trim() !== '') {
      try {
        for (const verb of parseTwiml(answer.body)) {
          if (verb.kind === 'message') say(verb.text);
        }
      } catch (error) {
        if (!(error instanceof TwimlError)) throw error;
        exchange.moveMessage(message, 'received', { errorCode: error.code, errorMessage: error.message });
      }
    }
  }
}
