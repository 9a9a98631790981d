import type { PhoneCall } from './call.ts';
import type { Gather, Verb } from './twiml.ts';

/** Request for a call and its progress: the part that only the switchboard uses. */
export interface Line {
  readonly call: PhoneCall;
  /** The person's end. */
  readonly person: string;
  readonly document: DocumentSource;
  readonly statusCallback: { readonly url: string; readonly method: 'GET' | 'POST' } | null;
  readonly statusEvents: readonly string[];
  readonly machineDetection: MachineDetection | null;
  /** Sequence number of the next report. */
  sequenceNumber: number;
  /** The verbs still to come, and the address they came from. */
  verbs: readonly Verb[];
  documentUrl: string;
  documentsRead: number;
  /** Rises when another document takes over, so that an answer that comes late is not followed. */
  run: number;
  gather: { readonly verb: Gather; digits: string } | null;
  /** Time that the caller has been speaking since the last wait, in milliseconds. */
  talkMs: number;
  cancelAlarm: () => void;
}

export type DocumentSource =
  | { readonly kind: 'inline'; readonly twiml: string }
  | {
      readonly kind: 'url';
      readonly url: string;
      readonly method: 'GET' | 'POST';
      readonly fallbackUrl: string | null;
    };

export interface MachineDetection {
  readonly machineSays: 'machine_start' | 'machine_end_beep';
  /** Asynchronous detection: the result is reported to this address. */
  readonly asyncUrl: string | null;
  readonly isAsync: boolean;
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
