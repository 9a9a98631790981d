import type { Alarms } from './alarms.ts';
import { hasEnded, type CallStatus, type PhoneCall, type PickedUpBy } from './call.ts';
import { reportCall, reportMachineDetection, type CallEvent } from './call_reports.ts';
import { Conversation } from './conversation.ts';
import type { Exchange } from './exchange.ts';
import type { Faults, FaultOf } from './faults.ts';
import { listOf, numberOf, textOf, type Form } from './forms.ts';
import type { DocumentSource, Line, MachineDetection } from './line.ts';
import { NotPossible } from './not_possible.ts';
import { pause } from './pause.ts';
import { requireReachable } from './reachable.ts';
import type { Reports } from './reports.ts';
import { TwilioRefusal } from './twilio_errors.ts';
import type { Ask } from './webhooks.ts';

/** Twilio's own when the request names none. */
const RINGS_SECONDS = 60;

interface Parts {
  readonly exchange: Exchange;
  readonly faults: Faults;
  readonly reports: Reports;
  readonly alarms: Alarms;
  readonly ask: Ask;
  readonly delayMs: number;
}

/** Every call from the request to its end: rings, connects, listens to what either side does, reports. */
export class Switchboard {
  readonly #parts: Parts;
  readonly #conversation: Conversation;
  readonly #lines = new WeakMap<PhoneCall, Line>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#conversation = new Conversation({ ...parts, end: (line, as) => this.#end(line, as) });
  }

  /** Accepts a checked form and starts to ring. Throws TwilioRefusal. */
  place(form: Form): PhoneCall {
    const to = textOf(form, 'To') ?? '';
    const from = textOf(form, 'From') ?? '';
    requireReachable(to);
    if (this.#parts.exchange.numberOf(from) === undefined) throw new TwilioRefusal(21210);
    const document = documentOf(form);
    if (document === null) throw new TwilioRefusal(21205);
    const timeoutSeconds = numberOf(form, 'Timeout', RINGS_SECONDS);
    const line = this.#open(
      this.#parts.exchange.addCall({ direction: 'outbound-api', from, to, status: 'queued', timeoutSeconds }),
      { person: to, document, form },
    );
    void this.#parts.exchange.track(this.#ring(line));
    return line.call;
  }

  /** A person calls a number of the account, which answers at once with the document at `voiceUrl`. */
  async dial(from: string, to: string): Promise<PhoneCall> {
    const url = this.#parts.exchange.numberOf(to)?.voiceUrl;
    if (url === undefined) throw new NotPossible(`${to} takes no calls`);
    const call = this.#parts.exchange.addCall({ direction: 'inbound', from, to, status: 'ringing', timeoutSeconds: 0 });
    const document = { kind: 'url', url, method: 'POST', fallbackUrl: null } as const;
    const line = this.#open(call, { person: from, document, form: {} });
    this.#move(line, 'in-progress', { startedAtMs: this.#parts.exchange.now(), pickedUpBy: 'human' });
    await this.#conversation.start(line, document);
    return call;
  }

  /** Picks up. Resolves when the caller waits for keys or the call has ended. */
  async answer(call: PhoneCall, by: PickedUpBy): Promise<void> {
    const line = this.#lineOf(call, 'ringing');
    line.cancelAlarm();
    const { machineDetection } = line;
    const verdict = by === 'human' ? 'human' : (machineDetection?.machineSays ?? null);
    this.#move(line, 'in-progress', {
      startedAtMs: this.#parts.exchange.now(),
      pickedUpBy: by,
      answeredBy: machineDetection === null || machineDetection.isAsync ? null : verdict,
    });
    this.#report(line, 'answered');
    if (machineDetection?.isAsync) {
      this.#parts.exchange.changeCall(call, { answeredBy: verdict });
      reportMachineDetection(this.#parts, line);
    }
    await this.#conversation.start(line, line.document);
  }

  async press(call: PhoneCall, keys: string): Promise<void> {
    await this.#conversation.press(this.#lineOf(call, 'in-progress'), keys);
  }

  async staySilent(call: PhoneCall): Promise<void> {
    await this.#conversation.endWait(this.#lineOf(call, 'in-progress'));
  }

  hangUp(call: PhoneCall): void {
    this.#end(this.#lineOf(call, 'in-progress'), 'completed');
  }

  reject(call: PhoneCall): void {
    this.#end(this.#lineOf(call, 'ringing'), 'busy');
  }

  letRing(call: PhoneCall): void {
    this.#end(this.#lineOf(call, 'ringing'), 'no-answer');
  }

  /** A checked update by the product: ends the call, or sends it to another document. Throws TwilioRefusal. */
  update(call: PhoneCall, form: Form): void {
    const line = this.#lines.get(call);
    const status = textOf(form, 'Status');
    if (line === undefined || hasEnded(call)) throw new TwilioRefusal(21220);
    const isRunning = call.status === 'in-progress';
    if (status === 'completed') this.#end(line, isRunning ? 'completed' : 'canceled');
    if (status === 'canceled' && !isRunning) this.#end(line, 'canceled');
    const document = documentOf(form);
    if (status !== undefined || document === null) return;
    if (!isRunning) throw new TwilioRefusal(21220);
    void this.#parts.exchange.track(this.#conversation.start(line, document));
  }

  async #ring(line: Line): Promise<void> {
    const { exchange, faults, alarms, delayMs } = this.#parts;
    const fault = faults.take(['failed', 'call_ends'], { on: 'call', number: line.person });
    await pause(delayMs);
    if (hasEnded(line.call)) return;
    this.#report(line, 'initiated', 'initiated');
    await pause(delayMs);
    if (hasEnded(line.call)) return;
    if (fault !== null && endOf(fault) === 'failed') {
      this.#end(line, 'failed');
      return;
    }
    this.#move(line, 'ringing');
    this.#report(line, 'ringing');
    const timeoutAtMs = exchange.now() + line.call.timeoutSeconds * 1_000;
    line.cancelAlarm = alarms.set(timeoutAtMs, async () => this.#end(line, 'no-answer'));
    if (fault === null) return;
    await pause(delayMs);
    if (!hasEnded(line.call)) this.#end(line, endOf(fault));
  }

  #open(call: PhoneCall, asked: { person: string; document: DocumentSource; form: Form }): Line {
    const { form } = asked;
    const callback = textOf(form, 'StatusCallback');
    const events = listOf(form, 'StatusCallbackEvent');
    const line: Line = {
      call,
      person: asked.person,
      document: asked.document,
      statusCallback: callback === undefined ? null : { url: callback, method: methodOf(form, 'StatusCallbackMethod') },
      statusEvents: events.length > 0 ? events : ['completed'],
      machineDetection: machineDetectionOf(form),
      sequenceNumber: 0,
      verbs: [],
      documentUrl: '',
      documentsRead: 0,
      run: 0,
      gather: null,
      talkMs: 0,
      cancelAlarm: () => {},
    };
    this.#lines.set(call, line);
    return line;
  }

  #lineOf(call: PhoneCall, status: 'ringing' | 'in-progress'): Line {
    const line = this.#lines.get(call);
    if (line === undefined || call.status !== status) {
      throw new NotPossible(`call ${call.sid} is ${call.status}, not ${status}`);
    }
    return line;
  }

  #end(line: Line, status: CallStatus): void {
    line.cancelAlarm();
    line.gather = null;
    line.verbs = [];
    this.#move(line, status, { endedAtMs: this.#parts.exchange.now(), isListening: false });
    this.#report(line, 'completed');
  }

  #move(line: Line, status: CallStatus, changes: Partial<PhoneCall> = {}): void {
    this.#parts.exchange.moveCall(line.call, status, changes);
  }

  #report(line: Line, event: CallEvent, status: string = line.call.status): void {
    reportCall(this.#parts, line, event, status);
  }
}

function endOf(fault: FaultOf<'failed' | 'call_ends'>): 'busy' | 'no-answer' | 'failed' {
  return fault.kind === 'failed' ? 'failed' : fault.as;
}

/** Url wins over Twiml, as at Twilio. */
function documentOf(form: Form): DocumentSource | null {
  const url = textOf(form, 'Url');
  const twiml = textOf(form, 'Twiml');
  if (url !== undefined) {
    return { kind: 'url', url, method: methodOf(form, 'Method'), fallbackUrl: textOf(form, 'FallbackUrl') ?? null };
  }
  return twiml === undefined ? null : { kind: 'inline', twiml };
}

function methodOf(form: Form, name: string): 'GET' | 'POST' {
  return textOf(form, name) === 'GET' ? 'GET' : 'POST';
}

function machineDetectionOf(form: Form): MachineDetection | null {
  const mode = textOf(form, 'MachineDetection');
  if (mode === undefined) return null;
  return {
    machineSays: mode === 'DetectMessageEnd' ? 'machine_end_beep' : 'machine_start',
    isAsync: textOf(form, 'AsyncAmd') === 'true',
    asyncUrl: textOf(form, 'AsyncAmdStatusCallback') ?? null,
  };
}
