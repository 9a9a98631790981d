import { type Cipher, createCipher } from '#auth/cipher.ts';
import type { Id } from '#kernel/ids.ts';
import { STATUS_PATH } from '#modules/status_pages/decide/publication.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';
import { sendStatusConfirmation } from '#storage/queue/jobs.ts';

/** Limits on the subscribers of a page, and on those of them who have not confirmed. */
const SUBSCRIBERS_MAX = 10_000;
const WAITING_MAX = 1_000;
/** Limit on the pages of the installation that wait for one address, so that nobody fills the mailbox of another. */
const WAITING_OF_ADDRESS_MAX = 5;
/** Hours until an address is asked again by the same page. */
const AGAIN_HOURS = 6;

/** Hours after which somebody who has not confirmed is forgotten. */
export const CONFIRM_HOURS = 24;

/**
 * Asks the owner of an address by mail whether they want updates of a page. Returns whether the page has room; the
 * answer says nothing of the address.
 */
export async function subscribe(
  runtime: UnitOfWorkRuntime,
  page: { readonly id: Id<'statuspage'>; readonly orgId: Id<'org'> },
  address: string,
): Promise<boolean> {
  const email = address.toLowerCase();
  return await inUnitOfWork(runtime, async ({ stores, now, enqueue }) => {
    const { subscribers } = stores;
    await subscribers.hold(page.id, email);
    // A page without room answers so for addresses that it knows, too: the answer must not tell them apart.
    const { confirmed, waiting, waitingOfAddress } = await subscribers.countFor(page.id, email);
    if (confirmed >= SUBSCRIBERS_MAX || waiting >= WAITING_MAX) return false;
    const earlier = await subscribers.findByAddress(page.id, email);
    if (earlier !== null && earlier.confirmedAt !== null) return true;
    const again = earlier?.askedAt.add({ hours: AGAIN_HOURS });
    if (again !== undefined && again.epochMilliseconds > now.epochMilliseconds) return true;
    if (waitingOfAddress >= WAITING_OF_ADDRESS_MAX) return true;
    const subscriberId = await subscribers.ask({ orgId: page.orgId, pageId: page.id, email }, now);
    enqueue(sendStatusConfirmation, { subscriberId });
    return true;
  });
}

type SubscriberPurpose = 'confirm' | 'unsubscribe';

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
