import { type Alarms, pause } from './alarms.ts';
import { durationSeconds, hasEnded, NotPossible, type CallStatus, type PhoneCall, type PickedUpBy } from './call.ts';
import { callParams, Conversation, type Line } from './conversation.ts';
import type { Exchange } from './exchange.ts';
import type { Faults } from './faults.ts';
import { listOf, numberOf, textOf, type Form } from './forms.ts';
import { toRfc2822 } from './message.ts';
import type { Reports } from './reports.ts';
import { requireReachable, TwilioRefusal } from './twilio_errors.ts';
import type { Ask } from './webhooks.ts';

/** Events of a call to which a caller may subscribe; `completed` is every end of a call, whatever its status. */
export type CallEvent = 'initiated' | 'ringing' | 'answered' | 'completed';

const SIP_RESPONSES: Partial<Record<CallStatus, string>> = { busy: '486', 'no-answer': '487', failed: '404' };

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
    this.#conversation = new Conversation({ ...parts, end: (line) => this.#end(line, 'completed') });
  }

  /** Accepts a checked form and starts to ring. Throws TwilioRefusal. */
  place(form: Form): PhoneCall {
    const to = textOf(form, 'To') ?? '';
    const from = textOf(form, 'From') ?? '';
    requireReachable(to);
    if (this.#parts.exchange.numberOf(from) === undefined) throw new TwilioRefusal(21210);
    const url = textOf(form, 'Url');
    if (url === undefined) throw new TwilioRefusal(21205);
    const timeoutSeconds = numberOf(form, 'Timeout', RINGS_SECONDS);
    const call = this.#parts.exchange.addCall({
      direction: 'outbound-api',
      from,
      to,
      status: 'queued',
      timeoutSeconds,
    });
    const events = listOf(form, 'StatusCallbackEvent');
    const line: Line = {
      call,
      url,
      statusCallback: textOf(form, 'StatusCallback') ?? null,
      statusEvents: events.length > 0 ? events : ['completed'],
      detectsMachines: form['MachineDetection'] !== undefined,
      sequenceNumber: 0,
      verbs: [],
      documentUrl: '',
      run: 0,
      gather: null,
      talkMs: 0,
      cancelAlarm: () => {},
    };
    this.#lines.set(call, line);
    void this.#parts.exchange.track(this.#ring(line));
    return call;
  }

  /** Picks up. Resolves when the caller waits for keys or the call has ended. */
  async answer(call: PhoneCall, by: PickedUpBy): Promise<void> {
    const line = this.#lineOf(call, 'ringing');
    line.cancelAlarm();
    this.#move(line, 'in-progress', {
      startedAtMs: this.#parts.exchange.now(),
      pickedUpBy: by,
      answeredBy: line.detectsMachines ? (by === 'human' ? 'human' : 'machine_start') : null,
    });
    this.#report(line, 'answered');
    await this.#conversation.start(line);
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

  async #ring(line: Line): Promise<void> {
    const { exchange, faults, alarms, delayMs } = this.#parts;
    const fault = faults.take(['failed', 'call_ends'], { on: 'call', number: line.call.to });
    await pause(delayMs);
    if (hasEnded(line.call)) return;
    this.#report(line, 'initiated', 'initiated');
    await pause(delayMs);
    if (hasEnded(line.call)) return;
    const end = fault === null || fault.kind === 'call_ends' ? (fault?.as ?? null) : fault.kind;
    if (end === 'failed') {
      this.#end(line, end);
      return;
    }
    this.#move(line, 'ringing');
    this.#report(line, 'ringing');
    const timeoutAtMs = exchange.now() + line.call.timeoutSeconds * 1_000;
    line.cancelAlarm = alarms.set(timeoutAtMs, async () => this.#end(line, 'no-answer'));
    if (end === null) return;
    await pause(delayMs);
    if (!hasEnded(line.call)) this.#end(line, end);
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

  /** Reports an event to the call's StatusCallback, when it asked for that event. */
  #report(line: Line, event: CallEvent, status: string = line.call.status): void {
    const { exchange, reports } = this.#parts;
    const { call, statusCallback } = line;
    if (statusCallback === null || !line.statusEvents.includes(event)) return;
    const seconds = durationSeconds(call);
    void reports.send({
      point: { on: 'call', number: call.to },
      isLast: event === 'completed',
      webhook: {
        kind: 'call_status',
        sid: call.sid,
        url: statusCallback,
        params: {
          ...callParams(line, exchange.accountSid),
          CallStatus: status,
          CallbackSource: 'call-progress-events',
          SequenceNumber: String(line.sequenceNumber),
          Timestamp: toRfc2822(exchange.now()),
          ...(event === 'completed' && {
            CallDuration: String(seconds),
            Duration: String(Math.ceil(seconds / 60)),
            SipResponseCode: SIP_RESPONSES[call.status] ?? '200',
          }),
        },
      },
    });
    line.sequenceNumber += 1;
  }
}
