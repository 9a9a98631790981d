import type { Cipher } from '#auth/cipher.ts';
import { STATUS_PATH, STAGE_TEXTS } from '#modules/status_pages/decide/publication.ts';
import { subscriberUrl } from '#modules/status_pages/subscribers.ts';
import type { SubscriberRow } from '#modules/status_pages/store/subscriber_store.ts';
import { inUnitOfWork, type Stores, storesOf } from '#modules/stores.ts';
import { messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import { confirmationMail, statusUpdateMail } from '#notify/mail/notices.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { announceStatusUpdate, sendStatusConfirmation, sendStatusUpdate } from '#storage/queue/jobs.ts';
import type { AccountMailRuntime } from '#workers/send_password_reset.ts';

interface StatusMailRuntime extends AccountMailRuntime {
  readonly subscriberCipher: Cipher;
}

/** Subscribers whose mails are made at once, and the pause before the next: other mail goes in between. */
const AT_ONCE = 100;
const PAUSE_SECONDS = 5;

export const onSendStatusConfirmation = (runtime: StatusMailRuntime): JobHandler =>
  handleJob(sendStatusConfirmation, async ({ subscriberId }) => {
    const { mail, baseUrl, db, subscriberCipher } = runtime;
    const { subscribers, statusPages } = storesOf(db.session());
    const subscriber = await subscribers.find(subscriberId);
    if (mail === null || subscriber === null || subscriber.confirmedAt !== null) return;
    const page = await statusPages.get(subscriber.orgId, subscriber.pageId);
    const link = subscriberUrl(subscriberCipher, { baseUrl, slug: page.slug }, 'confirm', subscriber.id);
    const messageId = messageIdOf(
      `${subscriber.id}.${subscriber.askedAt.epochMilliseconds}`,
      new URL(baseUrl).hostname,
    );
    const text = confirmationMail({ title: page.title, link });
    const delivery = await sendMail(mail, { to: subscriber.email, messageId, ...text, priority: 'normal' });
    if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });

export const onAnnounceStatusUpdate = (runtime: StatusMailRuntime): JobHandler =>
  handleJob(announceStatusUpdate, async ({ updateId, after = '' }) => {
    if (runtime.mail === null) return;
    await inUnitOfWork(runtime, async ({ stores, now, enqueue }) => {
      const update = await stores.publications.findUpdate(updateId);
      if (update === null) return;
      const ids = await stores.subscribers.listConfirmed(update.pageId, after, AT_ONCE);
      for (const subscriberId of ids) enqueue(sendStatusUpdate, { updateId, subscriberId });
      const last = ids.at(-1);
      if (last === undefined || ids.length < AT_ONCE) return;
      enqueue(announceStatusUpdate, { updateId, after: last }, now.add({ seconds: PAUSE_SECONDS }));
    });
  });

export const onSendStatusUpdate = (runtime: StatusMailRuntime): JobHandler =>
  handleJob(sendStatusUpdate, async ({ updateId, subscriberId }) => {
    const { mail, baseUrl, db, subscriberCipher } = runtime;
    const stores = storesOf(db.session());
    const { subscribers, publications, statusPages } = stores;
    const update = await publications.findUpdate(updateId);
    const subscriber = await subscribers.find(subscriberId);
    if (mail === null || update === null || subscriber === null || subscriber.confirmedAt === null) return;
    const page = await statusPages.get(subscriber.orgId, subscriber.pageId);
    if (!page.isPublic && !(await isOfMember(stores, subscriber))) return;
    const components = await statusPages.listComponents(page.id);
    const at = { baseUrl, slug: page.slug };
    const unsubscribe = subscriberUrl(subscriberCipher, at, 'unsubscribe', subscriber.id);
    const text = statusUpdateMail({
      page: page.title,
      title: update.title,
      stage: STAGE_TEXTS[update.stage],
      body: update.body,
      affected: components.flatMap(({ serviceId, name }) => (update.serviceIds.includes(serviceId) ? [name] : [])),
      link: `${baseUrl}${STATUS_PATH}/${page.slug}#${update.publicationId}`,
      unsubscribe,
    });
    const host = new URL(baseUrl).hostname;
    const delivery = await sendMail(mail, {
      to: subscriber.email,
      messageId: messageIdOf(`${update.id}.${subscriber.id}`, host),
      references: messageIdOf(`${update.publicationId}.${subscriber.id}`, host),
      ...text,
      priority: 'normal',
      unsubscribeUrl: unsubscribe,
    });
    if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });

/** Whether the address is that of a member now: it may be that of somebody who has left, or have asked while all could read. */
async function isOfMember({ people }: Stores, { orgId, email }: SubscriberRow): Promise<boolean> {
  const user = await people.findUserByEmail(email);
  return user !== null && (await people.findRole(orgId, user.id)) !== null;
}
