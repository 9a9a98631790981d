import { type Cipher, createCipher } from '#auth/cipher.ts';
import { STATUS_PATH } from '#modules/status_pages/decide/publication.ts';

/** Purposes of the links in mails to subscribers. */
export type SubscriberPurpose = 'confirm' | 'unsubscribe';

/** Returns the cipher of the links in mails to subscribers. */
export function subscriberCipherOf(appSecret: string): Cipher {
  return createCipher(appSecret, 'status-subscribers');
}

/** Returns the address at which a subscriber confirms, or unsubscribes. Only this installation can make it. */
export function subscriberUrl(
  cipher: Cipher,
  { baseUrl, slug }: { readonly baseUrl: string; readonly slug: string },
  purpose: SubscriberPurpose,
  subscriberId: string,
): string {
  const token = cipher.encrypt(`${purpose} ${subscriberId}`).toString('base64url');
  return `${baseUrl}${STATUS_PATH}/${slug}/${purpose}/${token}`;
}

/** Returns the subscriber of a link; null for a link that was altered, or made for something else. */
export function subscriberOfLink(cipher: Cipher, purpose: SubscriberPurpose, token: string): string | null {
  try {
    const [madeFor, subscriberId = ''] = cipher.decrypt(Buffer.from(token, 'base64url')).split(' ');
    return madeFor === purpose ? subscriberId : null;
  } catch {
    return null;
  }
}
