import { parseOptOut } from '#modules/notifications/decide/sms_reply.ts';
import type { CallbackProvider, DeliveryReport, Fields, ReportCallback } from '#notify/channel.ts';
import { reasonOfCode } from '#notify/twilio/error_codes.ts';

export const SMS_STATUS = 'sms-status';

export function smsReports(provider: CallbackProvider): ReportCallback {
  return { channel: 'sms', provider, name: SMS_STATUS, reportOf };
}

/**
 * Maps `MessageStatus` (https://www.twilio.com/docs/messaging/api/message-resource) to a report; null for a status that
 * changes nothing.
 */
function reportOf(fields: Fields): DeliveryReport | null {
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
      const reason = reasonOfCode(Number(fields['ErrorCode'])) ?? 'not_delivered';
      return { status: 'failed', reason, providerId };
    }
    default:
      return null;
  }
}

/** A message from somebody's phone. */
export interface InboundSms {
  readonly providerId: string;
  /** Number of the sender, in E.164. */
  readonly from: string;
  readonly text: string;
  /** Opt-out keyword that Twilio has obeyed and answered itself; null if there is none. */
  readonly optOut: 'stop' | 'start' | 'help' | 'yes' | null;
}

/** Parses an inbound SMS; null if it names neither itself nor its sender. */
export function inboundSms(fields: Fields): InboundSms | null {
  const { MessageSid: providerId, From: from, Body: text = '' } = fields;
  if (providerId === undefined || from === undefined) return null;
  return { providerId, from, text, optOut: optOutOf(fields['OptOutType'], text) };
}

/**
 * Returns the opt-out keyword: `OptOutType` is sent only for a messaging service with its own keywords; otherwise the
 * text decides.
 */
function optOutOf(type: string | undefined, text: string): InboundSms['optOut'] {
  switch (type?.toUpperCase()) {
    case undefined:
      return parseOptOut(text);
    case 'STOP':
      return 'stop';
    case 'START':
      return 'start';
    default:
      return 'help';
  }
}
