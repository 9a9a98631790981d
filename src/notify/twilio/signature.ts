import { validateRequest } from 'twilio/lib/webhooks/webhooks.js';

/**
 * Whether a call-back bears the signature of our account for exactly this address and these fields (Twilio, "Webhooks
 * security"). The address is the public one, as configured: what a proxy or the Host header says does not count.
 */
export function isSignedByTwilio(
  authToken: string,
  signature: string | undefined,
  publicUrl: string,
  fields: Readonly<Record<string, string>>,
): boolean {
  return signature !== undefined && validateRequest(authToken, signature, publicUrl, { ...fields });
}
