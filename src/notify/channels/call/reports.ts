import type { CallbackProvider, DeliveryReport, Fields, ReportCallback } from '#notify/channel.ts';

/** Reasons why a call reached nobody, by its final `CallStatus`. */
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
 * Maps `CallStatus` when a call is placed and at its end; null for one that changes nothing. `completed` alone says
 * nothing: voicemail and call screening complete as well, so a call counts as delivered only if a person answered it. A
 * key that was pressed has moved the message to delivered before, which no later report reverts.
 */
function reportOf(fields: Fields): DeliveryReport | null {
  const { providerId, by } = answeredCall(fields);
  const status = fields['CallStatus'] ?? '';
  if (status === 'initiated') return { status: 'sent', reason: null, providerId };
  if (status === 'completed' && by === 'person') return { status: 'delivered', reason: null, providerId };
  const reason = status === 'completed' ? UNANSWERED[by] : CALL_FAILURES[status];
  return reason === undefined ? null : { status: 'failed', reason, providerId };
}

/** Reasons why a completed call without a key pressed reached nobody for certain, by what answered it. */
const UNANSWERED: Readonly<Record<string, string>> = { machine: 'answering_machine', unknown: 'no_key_pressed' };

export interface AnsweredCall {
  readonly providerId: string | null;
  readonly by: 'person' | 'machine' | 'unknown';
}

export function answeredCall(fields: Fields): AnsweredCall {
  const by = fields['AnsweredBy'] ?? '';
  const isMachine = by.startsWith('machine') || by === 'fax';
  return { providerId: callOf(fields), by: by === 'human' ? 'person' : isMachine ? 'machine' : 'unknown' };
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
