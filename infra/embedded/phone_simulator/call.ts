import { toRfc2822 } from './message.ts';

export type CallStatus = 'queued' | 'ringing' | 'in-progress' | 'completed' | 'busy' | 'no-answer' | 'failed';

export type PickedUpBy = 'human' | 'machine';

export interface CallLine {
  /** `caller`: heard on the phone; `person`: the keys they pressed. */
  readonly by: 'caller' | 'person';
  readonly text: string;
  readonly atMs: number;
}

/** One call. The record is live: it moves on while you hold it. Times are milliseconds of the phone's clock. */
export interface PhoneCall {
  /** Rises with every message, call, request and call-back: their common order. */
  readonly seq: number;
  readonly sid: string;
  readonly direction: 'outbound-api';
  readonly from: string;
  readonly to: string;
  readonly status: CallStatus;
  readonly history: readonly { readonly status: CallStatus; readonly atMs: number }[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  /** Longest time that it rings, in seconds. */
  readonly timeoutSeconds: number;
  readonly pickedUpBy: PickedUpBy | null;
  /** Answerer as Twilio reports it; null unless the request asked for machine detection. */
  readonly answeredBy: 'human' | 'machine_start' | null;
  readonly transcript: readonly CallLine[];
  /** The caller waits for keys. */
  readonly isListening: boolean;
  /** Reason why the caller's document could not be followed: Twilio's code and a sentence. */
  readonly problem: string | null;
}

export const hasEnded = (call: PhoneCall): boolean => call.endedAtMs !== null;

/** Everything that was said so far, in one text. */
export function spokenText(call: PhoneCall): string {
  return call.transcript
    .filter((line) => line.by === 'caller')
    .map((line) => line.text)
    .join(' ');
}

/** Whole seconds from pick-up to the end, rounded up as billed; 0 when nobody answered or it still goes on. */
export function durationSeconds(call: PhoneCall): number {
  if (call.startedAtMs === null || call.endedAtMs === null) return 0;
  return Math.ceil((call.endedAtMs - call.startedAtMs) / 1_000);
}

/** Returns a call as Twilio's REST API shows it. */
export function toCallResource(call: PhoneCall, accountSid: string) {
  return {
    account_sid: accountSid,
    answered_by: call.answeredBy,
    api_version: '2010-04-01',
    date_created: toRfc2822(call.createdAtMs),
    date_updated: toRfc2822(call.updatedAtMs),
    direction: call.direction,
    duration: hasEnded(call) ? String(durationSeconds(call)) : null,
    end_time: toRfc2822(call.endedAtMs),
    from: call.from,
    sid: call.sid,
    start_time: toRfc2822(call.startedAtMs),
    status: call.status,
    to: call.to,
    uri: `/2010-04-01/Accounts/${accountSid}/Calls/${call.sid}.json`,
  };
}

/** A person or a test asked for something that the state of the call or number does not allow. */
export class NotPossible extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotPossible';
  }
}
