import type { DeliveryReport } from '#notify/delivery_report.ts';
import type { CallbackProvider, Fields, ReportCallback } from '#notify/provider_callbacks.ts';

/** Why a message was not delivered, by Twilio's code. */
const SMS_FAILURES: Readonly<Record<string, string>> = {
  '30003': 'phone_unreachable',
  '30004': 'message_blocked',
  '30005': 'unknown_number',
  '30006': 'landline',
  '30007': 'carrier_filtered',
  '30008': 'carrier_fault',
};

export const SMS_STATUS = 'sms-status';

export function smsReports(provider: CallbackProvider): ReportCallback {
  return { channel: 'sms', provider, name: SMS_STATUS, reportOf };
}

/**
 * `MessageStatus` of a message (https://www.twilio.com/docs/messaging/api/message-resource); null for one that
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
      const reason = SMS_FAILURES[fields['ErrorCode'] ?? ''] ?? 'not_delivered';
      return { status: 'failed', reason, providerId };
    }
    default:
      return null;
  }
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
