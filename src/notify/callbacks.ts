import type { NotificationStatus } from '#core/oncall/recipients.ts';

/** What a status report means for a delivery; null changes nothing. */
export interface Progress {
  readonly status: Extract<NotificationStatus, 'sent' | 'delivered' | 'failed'>;
  readonly reason: string | null;
}

/** Why a message was not delivered, by Twilio's code. */
const SMS_FAILURES: Readonly<Record<string, string>> = {
  '30003': 'phone_unreachable',
  '30004': 'message_blocked',
  '30005': 'unknown_number',
  '30006': 'landline',
  '30007': 'carrier_filtered',
  '30008': 'carrier_fault',
};

/** `MessageStatus` of a message (https://www.twilio.com/docs/messaging/api/message-resource). */
export function progressOfSms(fields: Readonly<Record<string, string>>): Progress | null {
  switch (fields['MessageStatus']) {
    case 'accepted':
    case 'queued':
    case 'sending':
    case 'sent':
      return { status: 'sent', reason: null };
    case 'delivered':
    case 'read':
      return { status: 'delivered', reason: null };
    case 'undelivered':
    case 'failed':
      return { status: 'failed', reason: SMS_FAILURES[fields['ErrorCode'] ?? ''] ?? 'not_delivered' };
    default:
      return null;
  }
}

/**
 * `CallStatus` when a call is placed and at its end. `completed` alone says nothing: voicemail completes as well, so only a call
 * that a person answered counts as delivered, and what a machine answered has failed to reach anybody.
 */
export function progressOfCall(fields: Readonly<Record<string, string>>): Progress | null {
  switch (fields['CallStatus']) {
    case 'initiated':
      return { status: 'sent', reason: null };
    case 'completed':
      return isMachine(fields['AnsweredBy'])
        ? { status: 'failed', reason: 'answering_machine' }
        : { status: 'delivered', reason: null };
    case 'busy':
      return { status: 'failed', reason: 'busy' };
    case 'no-answer':
      return { status: 'failed', reason: 'no_answer' };
    case 'failed':
      return { status: 'failed', reason: 'call_failed' };
    case 'canceled':
      return { status: 'failed', reason: 'call_cancelled' };
    default:
      return null;
  }
}

export function isMachine(answeredBy: string | undefined): boolean {
  return answeredBy !== undefined && (answeredBy.startsWith('machine') || answeredBy === 'fax');
}
