import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';

import { hasEnded, type CallLine, type CallStatus, type PhoneCall } from './call.ts';
import type { Form } from './forms.ts';
import { measureSms, type MessageStatus, type PhoneMessage } from './message.ts';

/** A number of the account: where Twilio would send what arrives there. */
export interface AccountNumber {
  readonly e164: string;
  readonly smsUrl: string;
}

/** One request to the REST API, accepted or not. */
export interface PhoneRequest {
  readonly seq: number;
  readonly receivedAtMs: number;
  readonly method: string;
  readonly path: string;
  readonly form: Form;
  /** Null while it is not answered. */
  readonly status: number | null;
}

export type CallbackKind = 'message_status' | 'call_status' | 'sms' | 'voice' | 'gather';

export interface PhoneCallback {
  readonly seq: number;
  readonly kind: CallbackKind;
  readonly sid: string;
  /** URL as it is signed: the public address. */
  readonly url: string;
  readonly params: Readonly<Record<string, string>>;
  readonly atMs: number;
  readonly outcome: 'waiting' | 'answered' | 'unreachable' | 'lost';
  readonly status: number | null;
}

export interface PhoneEvents {
  /** A record was added or has changed. */
  message: [PhoneMessage];
  call: [PhoneCall];
  request: [PhoneRequest];
  callback: [PhoneCallback];
}

interface ExchangeOptions {
  readonly accountSid: string;
  readonly numbers: readonly AccountNumber[];
  readonly now: () => number;
  readonly keep: number;
}

type NewMessage = Pick<PhoneMessage, 'direction' | 'from' | 'to' | 'body' | 'status'> &
  Partial<Pick<PhoneMessage, 'statusCallback' | 'errorCode' | 'errorMessage' | 'sentAtMs'>>;

type NewCall = Pick<PhoneCall, 'direction' | 'from' | 'to' | 'status' | 'timeoutSeconds'>;

/** The state of the network: the records in their order, and the events about changes. It decides nothing. */
export class Exchange {
  readonly accountSid: string;
  readonly numbers: readonly AccountNumber[];
  readonly now: () => number;
  readonly events = new EventEmitter<PhoneEvents>();
  readonly messages: Journal<PhoneMessage>;
  readonly calls: Journal<PhoneCall>;
  readonly requests: Journal<PhoneRequest>;
  readonly callbacks: Journal<PhoneCallback>;
  readonly #inFlight = new Set<Promise<unknown>>();
  #seq = 0;

  constructor({ accountSid, numbers, now, keep }: ExchangeOptions) {
    this.accountSid = accountSid;
    this.numbers = numbers;
    this.now = now;
    this.messages = new Journal(keep);
    this.calls = new Journal(keep);
    this.requests = new Journal(keep);
    this.callbacks = new Journal(keep);
    this.events.setMaxListeners(0);
  }

  /** The number of the newest record. */
  get lastSeq(): number {
    return this.#seq;
  }

  numberOf(e164: string): AccountNumber | undefined {
    return this.numbers.find((number) => number.e164 === e164);
  }

  addMessage(details: NewMessage): PhoneMessage {
    const now = this.now();
    const message: PhoneMessage = {
      statusCallback: null,
      errorCode: null,
      errorMessage: null,
      sentAtMs: null,
      ...details,
      seq: this.#nextSeq(),
      sid: this.#newSid('SM'),
      size: measureSms(details.body),
      history: [{ status: details.status, atMs: now }],
      createdAtMs: now,
      updatedAtMs: now,
    };
    this.messages.add(message.sid, message);
    this.events.emit('message', message);
    return message;
  }

  moveMessage(message: PhoneMessage, status: MessageStatus, changes: Partial<PhoneMessage> = {}): void {
    const now = this.now();
    const history = [...message.history, { status, atMs: now }];
    Object.assign(message, changes, { status, history, updatedAtMs: now });
    this.events.emit('message', message);
  }

  addCall(details: NewCall): PhoneCall {
    const now = this.now();
    const call: PhoneCall = {
      ...details,
      seq: this.#nextSeq(),
      sid: this.#newSid('CA'),
      history: [{ status: details.status, atMs: now }],
      createdAtMs: now,
      updatedAtMs: now,
      startedAtMs: null,
      endedAtMs: null,
      pickedUpBy: null,
      answeredBy: null,
      transcript: [],
      isListening: false,
      problem: null,
    };
    this.calls.add(call.sid, call);
    this.events.emit('call', call);
    return call;
  }

  moveCall(call: PhoneCall, status: CallStatus, changes: Partial<PhoneCall> = {}): void {
    const history = [...call.history, { status, atMs: this.now() }];
    this.changeCall(call, { ...changes, status, history });
  }

  changeCall(call: PhoneCall, changes: Partial<PhoneCall>): void {
    Object.assign(call, changes, { updatedAtMs: this.now() });
    this.events.emit('call', call);
  }

  addCallLine(call: PhoneCall, by: CallLine['by'], text: string): void {
    if (hasEnded(call)) return;
    this.changeCall(call, { transcript: [...call.transcript, { by, text, atMs: this.now() }] });
  }

  addRequest(details: Pick<PhoneRequest, 'receivedAtMs' | 'method' | 'path' | 'form'>): PhoneRequest {
    const request: PhoneRequest = { ...details, seq: this.#nextSeq(), status: null };
    this.requests.add(String(request.seq), request);
    this.events.emit('request', request);
    return request;
  }

  answerRequest(request: PhoneRequest, status: number): void {
    Object.assign(request, { status });
    this.events.emit('request', request);
  }

  addCallback(details: Omit<PhoneCallback, 'seq' | 'atMs' | 'status'>): PhoneCallback {
    const callback: PhoneCallback = { ...details, seq: this.#nextSeq(), atMs: this.now(), status: null };
    this.callbacks.add(String(callback.seq), callback);
    this.events.emit('callback', callback);
    return callback;
  }

  answerCallback(callback: PhoneCallback, changes: Pick<PhoneCallback, 'outcome' | 'status'>): void {
    Object.assign(callback, changes);
    this.events.emit('callback', callback);
  }

  /** Counts the work as in progress until it is done; see `settled`. Work that fails is a bug and ends the process. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#inFlight.add(work);
    const done = () => this.#inFlight.delete(work);
    void work.finally(done);
    return work;
  }

  /** Resolves when no message is on its way and no call-back waits for its answer. */
  async settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight);
  }

  #nextSeq(): number {
    return (this.#seq += 1);
  }

  /** Begins with digits of the account, by which the product tells later that no real provider has sent it. */
  #newSid(prefix: 'SM' | 'CA'): string {
    return prefix + this.accountSid.slice(2, 14) + randomBytes(10).toString('hex');
  }
}

/** The newest entries of one kind by key, oldest first. Beyond `keep` the oldest are dropped, so that memory is bounded. */
export class Journal<T> {
  readonly #entries = new Map<string, T>();
  readonly #keep: number;

  constructor(keep: number) {
    this.#keep = keep;
  }

  add(key: string, entry: T): void {
    this.#entries.set(key, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#keep) return;
      this.#entries.delete(oldest);
    }
  }

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  all(): T[] {
    return [...this.#entries.values()];
  }

  newestFirst(): T[] {
    return this.all().reverse();
  }

  clear(): void {
    this.#entries.clear();
  }
}
