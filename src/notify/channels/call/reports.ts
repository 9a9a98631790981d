import type { DeliveryReport } from '#notify/delivery_report.ts';
import type { CallbackProvider, Fields, ReportCallback } from '#notify/provider_callbacks.ts';

/** Why the call reached nobody, by `CallStatus` at its end. */
const CALL_FAILURES: Readonly<Record<string, string>> = {
  busy: 'busy',
  'no-answer': 'no_answer',
  failed: 'call_failed',
  canceled: 'call_cancelled',
};

export const CALL_STATUS = 'call-status';

export function callReports(provider: CallbackProvider): ReportCallback {
  return {
    channel: 'call',
    provider,
    name: CALL_STATUS,
    reportOf,
    endedCallOf: (fields) => (isEndOfCall(fields) ? callOf(fields) : null),
  };
}

/**
 * `CallStatus` when a call is placed and at its end; null for one that changes nothing. `completed` alone says nothing:
 * voicemail completes as well, so only a call that a person answered counts as delivered, and what a machine answered
 * has failed to reach anybody.
 */
function reportOf(fields: Fields): DeliveryReport | null {
  const { providerId, isMachine } = answeredCall(fields);
  const status = fields['CallStatus'] ?? '';
  if (status === 'initiated') return { status: 'sent', reason: null, providerId };
  if (status === 'completed' && !isMachine) return { status: 'delivered', reason: null, providerId };
  const reason = status === 'completed' ? 'answering_machine' : CALL_FAILURES[status];
  return reason === undefined ? null : { status: 'failed', reason, providerId };
}

/** A call that was answered, and by what. */
export interface AnsweredCall {
  readonly providerId: string | null;
  readonly isMachine: boolean;
}

export function answeredCall(fields: Fields): AnsweredCall {
  const by = fields['AnsweredBy'] ?? '';
  return { providerId: callOf(fields), isMachine: by.startsWith('machine') || by === 'fax' };
}

/** The provider's id of the call that a call-back belongs to. */
export function callOf(fields: Fields): string | null {
  return fields['CallSid'] ?? null;
}

/** Whether a status report is that of the end of its call, however it ended. */
function isEndOfCall(fields: Fields): boolean {
  const status = fields['CallStatus'] ?? '';
  return status === 'completed' || Object.hasOwn(CALL_FAILURES, status);
}
