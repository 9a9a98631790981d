import type { NotificationStatus } from '#core/oncall/recipients.ts';

/** The form of a call-back: every field once. */
export type Fields = Readonly<Record<string, string>>;

/** Null when a field is there twice, or there is no form. */
export function parseFields(body: unknown): Fields | null {
  if (typeof body !== 'object' || body === null) return null;
  const entries = Object.entries(body);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')
    ? Object.fromEntries(entries)
    : null;
}

/** What a status report means for a delivery. */
export interface Progress {
  readonly status: Extract<NotificationStatus, 'sent' | 'delivered' | 'failed'>;
  readonly reason: string | null;
  /** The provider's own id of the message or call. */
  readonly providerId: string | null;
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

/**
 * `MessageStatus` of a message (https://www.twilio.com/docs/messaging/api/message-resource); null for one that
 * changes nothing.
 */
export function progressOfSms(fields: Fields): Progress | null {
  const providerId = fields['MessageSid'] ?? null;
  switch (fields['MessageStatus']) {
    case 'accepted':
    case 'queued':
    case 'sending':
    case 'sent':
      return { status: 'sent', reason: null, providerId };
    case 'delivered':
    case 'read':
      return { status: 'delivered', reason: null, providerId };
    case 'undelivered':
    case 'failed': {
      const reason = SMS_FAILURES[fields['ErrorCode'] ?? ''] ?? 'not_delivered';
      return { status: 'failed', reason, providerId };
    }
    default:
      return null;
  }
}

/** Why nobody was spoken to, by `CallStatus` at the end of a call. */
const CALL_FAILURES: Readonly<Record<string, string>> = {
  busy: 'busy',
  'no-answer': 'no_answer',
  failed: 'call_failed',
  canceled: 'call_cancelled',
};

/**
 * `CallStatus` when a call is placed and at its end; null for one that changes nothing. `completed` alone says nothing:
 * voicemail completes as well, so only a call that a person answered counts as delivered, and what a machine answered
 * has failed to reach anybody.
 */
export function progressOfCall(fields: Fields): Progress | null {
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
export function isEndOfCall(fields: Fields): boolean {
  const status = fields['CallStatus'] ?? '';
  return status === 'completed' || Object.hasOwn(CALL_FAILURES, status);
}

/** A message from somebody's phone. */
export interface InboundSms {
  readonly providerId: string;
  /** E.164. */
  readonly from: string;
  readonly text: string;
  /** STOP, START or HELP, which Twilio has answered itself. */
  readonly isOptOut: boolean;
}

/** Null when it says neither what it is nor whom it is from. */
export function inboundSms(fields: Fields): InboundSms | null {
  const { MessageSid: providerId, From: from, Body: text = '' } = fields;
  if (providerId === undefined || from === undefined) return null;
  return { providerId, from, text, isOptOut: fields['OptOutType'] !== undefined };
}
