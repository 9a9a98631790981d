export type MessageStatus = 'queued' | 'sending' | 'sent' | 'delivered' | 'undelivered' | 'failed' | 'received';

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
    num_media: '0',
    num_segments: String(message.size.segments),
    sid: message.sid,
    status: message.status,
    to: message.to,
    uri: `/2010-04-01/Accounts/${accountSid}/Messages/${message.sid}.json`,
  };
}

/** Twilio writes times in RFC 2822, to the second. */
export function toRfc2822(ms: number): string;
export function toRfc2822(ms: number | null): string | null;
export function toRfc2822(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toUTCString().replace('GMT', '+0000');
}

/** Length of a text as SMS segments: GSM 03.38 in 7 bits, or UCS-2 as soon as one character is outside it. */
export interface SmsSize {
  readonly encoding: 'GSM-7' | 'UCS-2';
  readonly segments: number;
}

const GSM_BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const GSM_ESCAPED = '^{}\\[~]|€\f';

const basic = new Set(GSM_BASIC);
const escaped = new Set(GSM_ESCAPED);

export function measureSms(text: string): SmsSize {
  const characters = Array.from(text);
  if (characters.every((character) => basic.has(character) || escaped.has(character))) {
    const septets = characters.length + characters.filter((character) => escaped.has(character)).length;
    return { encoding: 'GSM-7', segments: segmentsOf(septets, 160, 153) };
  }
  return { encoding: 'UCS-2', segments: segmentsOf(text.length, 70, 67) };
}

function segmentsOf(length: number, single: number, each: number): number {
  return length <= single ? 1 : Math.ceil(length / each);
}
