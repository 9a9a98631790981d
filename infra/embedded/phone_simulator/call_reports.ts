import { durationSeconds, type CallStatus } from './call.ts';
import type { Exchange } from './exchange.ts';
import { callParams, type Line } from './line.ts';
import { toRfc2822 } from './message.ts';
import type { Reports } from './reports.ts';

/** Events of a call to which a caller may subscribe; `completed` is every end of a call, whatever its status. */
export type CallEvent = 'initiated' | 'ringing' | 'answered' | 'completed';

const SIP_RESPONSES: Partial<Record<CallStatus, string>> = {
  busy: '486',
  'no-answer': '487',
  failed: '404',
  canceled: '487',
};

interface Parts {
  readonly exchange: Exchange;
  readonly reports: Reports;
}

/** Reports an event to the call's StatusCallback, when it asked for that event. */
export function reportCall({ exchange, reports }: Parts, line: Line, event: CallEvent, status: string): void {
  const { call, statusCallback } = line;
  if (statusCallback === null || !line.statusEvents.includes(event)) return;
  const seconds = durationSeconds(call);
  void reports.send({
    point: { on: 'call', number: line.person },
    isLast: event === 'completed',
    webhook: {
      kind: 'call_status',
      sid: call.sid,
      ...statusCallback,
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

/** Reports who picked up, when the call asked for asynchronous machine detection. */
export function reportMachineDetection({ exchange, reports }: Parts, line: Line): void {
  const url = line.machineDetection?.asyncUrl ?? null;
  if (url === null) return;
  void reports.send({
    point: { on: 'call', number: line.person },
    isLast: false,
    webhook: {
      kind: 'machine_detection',
      sid: line.call.sid,
      method: 'POST',
      url,
      params: {
        AccountSid: exchange.accountSid,
        CallSid: line.call.sid,
        AnsweredBy: line.call.answeredBy ?? 'unknown',
        MachineDetectionDuration: '2000',
      },
    },
  });
}
