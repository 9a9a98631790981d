import { isIP } from 'node:net';

import { INTERNAL_NAME } from '#modules/contacts/decide/subscription_faults.ts';
import { addressIn } from '#notify/mail/address.ts';

/** Contact for push services (`sub` of RFC 8292, 2.1). */
export interface PushContact {
  /** An https address, or `mailto:` and one of mail. */
  readonly subject: string;
  /** Whether the operator has set it; false if none is set that a push service accepts, and this one replaces it. */
  readonly isGiven: boolean;
}

/** Reserved for documentation (RFC 2606): a form that push services take, and nobody gets mail. */
const PLACEHOLDER = 'mailto:operator@example.com';

/** Returns the public address, else the sender of mail. Apple's service refuses contacts on hosts that are not public. */
export function pushContact(baseUrl: string, mailFrom: string | null): PushContact {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === 'https:' && isPublicName(hostname)) return { subject: baseUrl, isGiven: true };
  const address = mailFrom === null ? '' : addressIn(mailFrom).trim();
  const host = address.slice(address.lastIndexOf('@') + 1);
  if (/^[^\s@]+@[^\s@]+$/.test(address) && isPublicName(host)) return { subject: `mailto:${address}`, isGiven: true };
  return { subject: PLACEHOLDER, isGiven: false };
}

function isPublicName(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '');
  return host.includes('.') && isIP(host) === 0 && !host.startsWith('[') && !INTERNAL_NAME.test(host);
}
