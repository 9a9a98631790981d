import type { Alarms } from './alarms.ts';
import { hasEnded } from './call.ts';
import type { Exchange } from './exchange.ts';
import { callParams, type DocumentSource, type Line } from './line.ts';
import { NotPossible } from './not_possible.ts';
import { parseTwiml, TwimlError, type Gather, type Spoken, type Verb } from './twiml.ts';
import type { Ask, Webhook } from './webhooks.ts';

/** A speaking rate of some 16 characters a second: only used to know when silence begins. */
const TALK_MS_PER_CHARACTER = 60;
/** A call that is redirected more often ends. */
const DOCUMENTS_MAX = 100;
const APPLICATION_ERROR = 'We are sorry, an application error has occurred. Goodbye.';

interface Request {
  readonly kind: 'voice' | 'gather';
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly fallbackUrl?: string | null;
}

interface Parts {
  readonly exchange: Exchange;
  readonly ask: Ask;
  readonly alarms: Alarms;
  /** Ends the call as completed, or as the document's Reject says. */
  readonly end: (line: Line, as: 'completed' | 'busy' | 'failed') => void;
}

/** Follows the product's TwiML on an answered call: speaks, waits for keys, asks what to do next. */
export class Conversation {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Resolves when the document waits for keys, or the call has ended. */
  async start(line: Line, document: DocumentSource, baseUrl = line.documentUrl): Promise<void> {
    this.#interrupt(line);
    if (document.kind === 'inline') await this.#follow(line, document.twiml, baseUrl);
    else await this.#read(line, { ...document, kind: 'voice' });
  }

  /** Keys pressed by the person, one by one. Throws NotPossible while nobody listens for keys. */
  async press(line: Line, keys: string): Promise<void> {
    if (!/^[0-9*#]+$/.test(keys)) throw new NotPossible(`not keys of a phone: ${keys}`);
    if (line.gather === null) throw new NotPossible(`nobody listens for keys in call ${line.call.sid}`);
    this.#parts.exchange.addCallLine(line.call, 'person', keys);
    for (const key of keys) {
      const { gather } = line;
      if (gather === null) return;
      const isFinish = gather.verb.finishOnKey.includes(key);
      if (!isFinish) gather.digits += key;
      if (isFinish || gather.digits.length === gather.verb.numDigits) {
        await this.#submit(line, gather.verb, gather.digits, isFinish ? key : '');
        return;
      }
    }
    line.talkMs = 0;
    if (line.gather !== null) this.#awaitNoSpeech(line, line.gather.verb);
  }

  /** The time for keys is over. Throws NotPossible while nobody listens for keys. */
  async endWait(line: Line): Promise<void> {
    const { gather } = line;
    if (gather === null) throw new NotPossible(`nobody listens for keys in call ${line.call.sid}`);
    if (gather.digits !== '' || gather.verb.actionOnEmptyResult) {
      await this.#submit(line, gather.verb, gather.digits, '');
    } else {
      this.#stopListening(line);
      await this.#goOn(line);
    }
  }

  async #submit(line: Line, verb: Gather, digits: string, finishedOnKey: string): Promise<void> {
    const url = resolve(verb.action ?? '', line.documentUrl);
    this.#interrupt(line);
    const params = { Digits: digits, FinishedOnKey: finishedOnKey, msg: 'Gather End' };
    await this.#read(line, { kind: 'gather', method: verb.method, url, params });
  }

  async #read(line: Line, request: Request): Promise<void> {
    const { exchange, ask } = this.#parts;
    line.documentsRead += 1;
    if (line.documentsRead > DOCUMENTS_MAX) {
      this.#giveUp(line, `more than ${DOCUMENTS_MAX} documents in one call`);
      return;
    }
    const { run } = line;
    const answer = await exchange.track(ask(this.#toWebhook(line, request)));
    if (line.run !== run || hasEnded(line.call)) return;
    if (answer.status !== null && answer.status < 400) {
      if (answer.body !== '' && !/\b(xml|html)\b/i.test(answer.contentType)) {
        this.#giveUp(line, `12300 Invalid Content-Type: ${answer.contentType}`);
      } else {
        await this.#follow(line, answer.body, request.url);
      }
      return;
    }
    const problem = answer.status === null ? '11200 no answer' : `11200 HTTP ${answer.status}`;
    const { fallbackUrl } = request;
    if (fallbackUrl === null || fallbackUrl === undefined) {
      this.#giveUp(line, `${problem} from ${request.url}`);
      return;
    }
    const params = { ErrorCode: '11200', ErrorUrl: request.url };
    await this.#read(line, { kind: 'voice', method: 'POST', url: fallbackUrl, params });
  }

  #toWebhook(line: Line, { kind, method, url, params }: Request): Webhook {
    const common = callParams(line, this.#parts.exchange.accountSid);
    return { kind, sid: line.call.sid, method, url, params: { ...common, ...params } };
  }

  async #follow(line: Line, twiml: string, url: string): Promise<void> {
    try {
      line.verbs = twiml.trim() === '' ? [] : parseTwiml(twiml);
      line.documentUrl = url;
    } catch (error) {
      if (!(error instanceof TwimlError)) throw error;
      this.#giveUp(line, error.message);
      return;
    }
    await this.#goOn(line);
  }

  /** Runs verb after verb up to the next wait; a document that has nothing left ends the call. */
  async #goOn(line: Line): Promise<void> {
    for (let verb = this.#next(line); verb !== undefined; verb = this.#next(line)) {
      switch (verb.kind) {
        case 'say':
        case 'play':
        case 'pause':
          this.#speak(line, verb);
          break;
        case 'gather':
          this.#listen(line, verb);
          return;
        case 'redirect':
          await this.#read(line, { kind: 'voice', method: verb.method, url: resolve(verb.url, line.documentUrl) });
          return;
        case 'hangup':
          this.#parts.end(line, 'completed');
          return;
        case 'reject':
          this.#parts.end(line, verb.reason === 'busy' ? 'busy' : 'failed');
          return;
        case 'message':
        case 'unsupported': {
          const name = verb.kind === 'message' ? 'Message' : verb.name;
          this.#parts.exchange.changeCall(line.call, { problem: `the simulator does not know the verb ${name}` });
          break;
        }
      }
    }
    this.#parts.end(line, 'completed');
  }

  #next(line: Line): Verb | undefined {
    const [verb, ...rest] = line.verbs;
    line.verbs = rest;
    return verb;
  }

  #speak(line: Line, spoken: Spoken): void {
    const { exchange } = this.#parts;
    if (spoken.kind === 'pause') {
      line.talkMs += spoken.seconds * 1_000;
      return;
    }
    exchange.addCallLine(line.call, 'caller', spoken.kind === 'say' ? spoken.text : `[plays ${spoken.text}]`);
    line.talkMs += spoken.text.length * TALK_MS_PER_CHARACTER;
  }

  #listen(line: Line, verb: Gather): void {
    for (const prompt of verb.prompts) this.#speak(line, prompt);
    line.gather = { verb, digits: '' };
    this.#awaitNoSpeech(line, verb);
    this.#parts.exchange.changeCall(line.call, { isListening: true });
  }

  #awaitNoSpeech(line: Line, verb: Gather): void {
    const { exchange, alarms } = this.#parts;
    line.cancelAlarm();
    const silentAtMs = exchange.now() + line.talkMs + verb.timeoutSeconds * 1_000;
    line.cancelAlarm = alarms.set(silentAtMs, () => this.endWait(line));
    line.talkMs = 0;
  }

  #stopListening(line: Line): void {
    line.cancelAlarm();
    line.gather = null;
    if (line.call.isListening) this.#parts.exchange.changeCall(line.call, { isListening: false });
  }

  /** Stops following the current document. */
  #interrupt(line: Line): void {
    line.run += 1;
    line.verbs = [];
    this.#stopListening(line);
  }

  #giveUp(line: Line, problem: string): void {
    const { exchange, end } = this.#parts;
    exchange.addCallLine(line.call, 'caller', APPLICATION_ERROR);
    exchange.changeCall(line.call, { problem });
    end(line, 'completed');
  }
}

/** An absolute address stays exactly as it was written: it is what gets signed. */
function resolve(reference: string, base: string): string {
  if (reference === '') return base;
  return !URL.canParse(reference) && URL.canParse(reference, base) ? new URL(reference, base).href : reference;
}
