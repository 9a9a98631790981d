import type { SmsSize } from './sms_text.ts';

export type MessageStatus =
  | 'accepted'
  | 'queued'
  | 'sending'
  | 'sent'
  | 'delivered'
  | 'undelivered'
  | 'failed'
  | 'received';

/** One SMS. The record is live: its status moves on while you hold it. Times are milliseconds of the phone's clock. */
export interface PhoneMessage {
  /** Rises with every message, call, request and call-back: their common order. */
  readonly seq: number;
  readonly sid: string;
  /** `outbound-reply` is an answer in TwiML or the network's own answer to STOP, START and HELP. */
  readonly direction: 'outbound-api' | 'outbound-reply' | 'inbound';
  readonly from: string;
  readonly to: string;
  readonly body: string;
  readonly size: SmsSize;
  readonly messagingServiceSid: string | null;
  readonly statusCallback: string | null;
  readonly status: MessageStatus;
  readonly errorCode: number | null;
  readonly errorMessage: string | null;
  readonly history: readonly { readonly status: MessageStatus; readonly atMs: number }[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Time at which it left; null until then. */
  readonly sentAtMs: number | null;
}

/** Returns a message as Twilio's REST API shows it. */
export function toMessageResource(message: PhoneMessage, accountSid: string) {
  const uri = `/2010-04-01/Accounts/${accountSid}/Messages/${message.sid}`;
  return {
    account_sid: accountSid,
    api_version: '2010-04-01',
    body: message.body,
    date_created: toRfc2822(message.createdAtMs),
    date_sent: toRfc2822(message.sentAtMs),
    date_updated: toRfc2822(message.updatedAtMs),
    direction: message.direction,
    error_code: message.errorCode,
    error_message: message.errorMessage,
    from: message.from,
    messaging_service_sid: message.messagingServiceSid,
    num_media: '0',
    num_segments: String(message.size.segments),
    price: null,
    price_unit: 'USD',
    sid: message.sid,
    status: message.status,
    subresource_uris: { media: `${uri}/Media.json` },
    to: message.to,
    uri: `${uri}.json`,
  };
}

/** Twilio writes times in RFC 2822, to the second. */
export function toRfc2822(ms: number): string;
export function toRfc2822(ms: number | null): string | null;
export function toRfc2822(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toUTCString().replace('GMT', '+0000');
}
