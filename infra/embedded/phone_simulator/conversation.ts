import { XMLParser, XMLValidator } from 'fast-xml-parser';

import type { Alarms } from './alarms.ts';
import { hasEnded, NotPossible, type PhoneCall } from './call.ts';
import type { Exchange } from './exchange.ts';
import type { Ask } from './webhooks.ts';

/** A speaking rate of some 16 characters a second: only used to know when silence begins. */
const TALK_MS_PER_CHARACTER = 60;
const APPLICATION_ERROR = 'We are sorry, an application error has occurred. Goodbye.';

export interface Line {
  readonly call: PhoneCall;
  /** Address of the first document. */
  readonly url: string;
  readonly statusCallback: string | null;
  readonly statusEvents: readonly string[];
  readonly detectsMachines: boolean;
  /** Sequence number of the next report. */
  sequenceNumber: number;
  /** The verbs still to come, and the address they came from. */
  verbs: readonly Verb[];
  documentUrl: string;
  /** Rises when another document takes over, so that an answer that comes late is not followed. */
  run: number;
  gather: { readonly verb: Gather; digits: string } | null;
  /** Time that the caller has been speaking since the last wait, in milliseconds. */
  talkMs: number;
  cancelAlarm: () => void;
}

/** Returns the parameters of every request about a call. */
export function callParams({ call }: Line, accountSid: string): Record<string, string> {
  return {
    AccountSid: accountSid,
    ApiVersion: '2010-04-01',
    CallSid: call.sid,
    CallStatus: call.status,
    Called: call.to,
    Caller: call.from,
    Direction: call.direction,
    From: call.from,
    To: call.to,
    ...(call.answeredBy !== null && { AnsweredBy: call.answeredBy }),
  };
}

interface Parts {
  readonly exchange: Exchange;
  readonly ask: Ask;
  readonly alarms: Alarms;
  /** Ends the call as completed. */
  readonly end: (line: Line) => void;
}

/** Follows the product's TwiML on an answered call: speaks, waits for keys, asks what to do next. */
export class Conversation {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Resolves when the first document waits for keys, or the call has ended. */
  async start(line: Line): Promise<void> {
    await this.#read(line, 'voice', line.url);
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
    if (gather.digits !== '') {
      await this.#submit(line, gather.verb, gather.digits, '');
    } else {
      this.#stopListening(line);
      this.#goOn(line);
    }
  }

  async #submit(line: Line, verb: Gather, digits: string, finishedOnKey: string): Promise<void> {
    const url = resolve(verb.action ?? '', line.documentUrl);
    line.run += 1;
    line.verbs = [];
    this.#stopListening(line);
    await this.#read(line, 'gather', url, { Digits: digits, FinishedOnKey: finishedOnKey, msg: 'Gather End' });
  }

  async #read(
    line: Line,
    kind: 'voice' | 'gather',
    url: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { exchange, ask } = this.#parts;
    const { run, call } = line;
    const params = { ...callParams(line, exchange.accountSid), ...more };
    const answer = await exchange.track(ask({ kind, sid: call.sid, url, params }));
    if (line.run !== run || hasEnded(call)) return;
    if (answer.status === null) this.#giveUp(line, `11200 no answer from ${url}`);
    else if (answer.status >= 400) this.#giveUp(line, `11200 HTTP ${answer.status} from ${url}`);
    else if (answer.body !== '' && !/\b(xml|html)\b/i.test(answer.contentType)) {
      this.#giveUp(line, `12300 Invalid Content-Type: ${answer.contentType}`);
    } else this.#follow(line, answer.body, url);
  }

  #follow(line: Line, twiml: string, url: string): void {
    try {
      line.verbs = twiml.trim() === '' ? [] : parseTwiml(twiml);
      line.documentUrl = url;
    } catch (error) {
      if (!(error instanceof TwimlError)) throw error;
      this.#giveUp(line, error.message);
      return;
    }
    this.#goOn(line);
  }

  /** Runs verb after verb up to the next wait; a document that has nothing left ends the call. */
  #goOn(line: Line): void {
    for (let verb = this.#next(line); verb !== undefined; verb = this.#next(line)) {
      switch (verb.kind) {
        case 'say':
          this.#speak(line, verb.text);
          break;
        case 'gather':
          this.#listen(line, verb);
          return;
        case 'hangup':
          this.#parts.end(line);
          return;
        case 'message':
        case 'unsupported': {
          const name = verb.kind === 'message' ? 'Message' : verb.name;
          this.#parts.exchange.changeCall(line.call, { problem: `the simulator does not know the verb ${name}` });
          break;
        }
      }
    }
    this.#parts.end(line);
  }

  #next(line: Line): Verb | undefined {
    const [verb, ...rest] = line.verbs;
    line.verbs = rest;
    return verb;
  }

  #speak(line: Line, text: string): void {
    this.#parts.exchange.addCallLine(line.call, 'caller', text);
    line.talkMs += text.length * TALK_MS_PER_CHARACTER;
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

  #giveUp(line: Line, problem: string): void {
    const { exchange, end } = this.#parts;
    exchange.addCallLine(line.call, 'caller', APPLICATION_ERROR);
    exchange.changeCall(line.call, { problem });
    end(line);
  }
}

/** An absolute address stays exactly as it was written: it is what gets signed. */
function resolve(reference: string, base: string): string {
  if (reference === '') return base;
  return !URL.canParse(reference) && URL.canParse(reference, base) ? new URL(reference, base).href : reference;
}

interface Gather {
  readonly kind: 'gather';
  /** Texts that are said while keys are awaited. */
  readonly prompts: readonly string[];
  /** Null: the address of the document itself. */
  readonly action: string | null;
  readonly timeoutSeconds: number;
  /** Null: until the finish key or silence. */
  readonly numDigits: number | null;
  readonly finishOnKey: string;
}

type Verb =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'message'; readonly text: string }
  | Gather
  | { readonly kind: 'hangup' }
  | { readonly kind: 'unsupported'; readonly name: string };

/** Twilio's code for a document it could not use; shown as the call's or message's problem. */
export class TwimlError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(`${code} ${message}`);
    this.name = 'TwimlError';
    this.code = code;
  }
}

interface Node {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Node[];
  readonly text: string;
}

type RawNode = Readonly<Record<string, unknown>>;

const ATTRIBUTES = ':@';
const TEXT = '#text';

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
});

/** The verbs of a document in their order. Throws TwimlError 12100 (not XML), 12102 (wrong root). */
export function parseTwiml(xml: string): readonly Verb[] {
  if (XMLValidator.validate(xml) !== true || /<!DOCTYPE/i.test(xml))
    throw new TwimlError(12100, 'Document parse failure');
  const root = toNodes(parser.parse(xml)).find((node) => !node.name.startsWith('?') && node.name !== TEXT);
  if (root?.name !== 'Response') throw new TwimlError(12102, 'No Response element');
  return root.children.filter((node) => node.name !== TEXT).map(toVerb);
}

function toVerb(node: Node): Verb {
  switch (node.name) {
    case 'Say':
      return { kind: 'say', text: spokenIn(node) };
    case 'Gather':
      return toGather(node);
    case 'Hangup':
      return { kind: 'hangup' };
    case 'Message':
      return { kind: 'message', text: node.text.trim() };
    default:
      return { kind: 'unsupported', name: node.name };
  }
}

const spokenIn = ({ text }: Node): string => text.replaceAll(/\s+/g, ' ').trim();

function toGather(node: Node): Gather {
  const numDigits = wholeNumber(node, 'numDigits', 0);
  return {
    kind: 'gather',
    prompts: node.children.filter(({ name }) => name === 'Say').map(spokenIn),
    action: node.attributes['action'] || null,
    timeoutSeconds: wholeNumber(node, 'timeout', 5),
    numDigits: numDigits > 0 ? numDigits : null,
    finishOnKey: node.attributes['finishOnKey'] ?? '#',
  };
}

function wholeNumber(node: Node, attribute: string, otherwise: number): number {
  const text = node.attributes[attribute];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : otherwise;
}

function toNodes(parsed: unknown): readonly Node[] {
  return Array.isArray(parsed) ? parsed.map((raw: RawNode) => toNode(raw)) : [];
}

function toNode(raw: RawNode): Node {
  const name = Object.keys(raw).find((key) => key !== ATTRIBUTES) ?? '';
  if (name === TEXT) return { name, attributes: {}, children: [], text: String(raw[TEXT]) };
  const children = toNodes(raw[name]);
  const text = children.map((child) => child.text).join('');
  return { name, attributes: toAttributes(raw[ATTRIBUTES]), children, text };
}

function toAttributes(raw: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(raw ?? {}).map(([name, value]) => [name, String(value)]));
}
