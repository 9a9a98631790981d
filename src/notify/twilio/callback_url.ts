/** Addresses that Twilio calls back: what happened to a message or call, what to say, which digit was pressed. */
export const CALLBACKS = [
  'sms-status',
  'voice',
  'voice-digit',
  'voice-pin-acknowledge',
  'voice-pin-resolve',
  'call-status',
] as const;

export type CallbackName = (typeof CALLBACKS)[number];

/** Only unreserved characters, so that no proxy re-encodes what the signature covers. */
export function callbackUrl(baseUrl: string, name: CallbackName, notificationId: string): string {
  return `${baseUrl}/api/callbacks/twilio/${name}/${notificationId}`;
}

/** Where replies by SMS arrive; set it as the webhook of the sender's number. */
export function inboundSmsUrl(baseUrl: string): string {
  return `${baseUrl}/api/callbacks/twilio/sms`;
}
