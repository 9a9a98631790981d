import type { CallbackProvider } from '#notify/provider_callbacks.ts';
import type { TwilioAccount } from '#notify/twilio/client.ts';

/** Call-backs bear the signature of our account for exactly their address and fields (Twilio, "Webhooks security"). */
export function twilioCallbacks(account: TwilioAccount | null): CallbackProvider {
  return {
    name: 'twilio',
    async isAuthentic({ url, headers, fields }) {
      const signature = headers['x-twilio-signature'];
      if (account === null || typeof signature !== 'string') return false;
      // Only processes that are called back load it.
      const { validateRequest } = await import('twilio/lib/webhooks/webhooks.js');
      return validateRequest(account.authToken, signature, url, { ...fields });
    },
    contentType: 'text/xml; charset=utf-8',
    received: '<Response/>',
  };
}

/**
 * Returns the address that Twilio calls back about a message. Only unreserved characters, so that no proxy re-encodes
 * what the signature covers.
 */
export function callbackUrl(baseUrl: string, name: string, notificationId: string): string {
  return `${baseUrl}/api/callbacks/twilio/${name}/${notificationId}`;
}

/** Returns the address at which replies by SMS arrive; set it as the webhook of the sender's number. */
export function inboundSmsUrl(baseUrl: string): string {
  return `${baseUrl}/api/callbacks/twilio/sms`;
}
