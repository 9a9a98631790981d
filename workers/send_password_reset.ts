import { createReset } from '#modules/accounts/operations/password_resets.ts';
import { sendPasswordReset } from '#storage/queue/jobs.ts';
import { type MailServer, messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import { passwordResetMail } from '#notify/mail/account_mail_text.ts';
import { inUnitOfWork, storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';

export interface AccountMailRuntime extends UnitOfWorkRuntime {
  readonly baseUrl: string;
  readonly mail: MailServer | null;
  /** Limit on the resets sent to one person, so that nobody can fill the mailbox of somebody else. */
  readonly resetsOfAccountMax: number;
}

export const onSendPasswordReset = (runtime: AccountMailRuntime): JobHandler =>
  handleJob(sendPasswordReset, async ({ email, requestId, address }) => {
    const { mail, baseUrl } = runtime;
    if (mail === null) return;
    const made = await inUnitOfWork(runtime, async (unit) => {
      const user = await unit.stores.people.findUserByEmail(email);
      if (user === null) return null;
      // Concurrent requests are counted one after the other.
      await unit.stores.people.lockUser(user.id);
      const recent = await unit.stores.passwordResets.countSince(user.id, unit.now.subtract({ hours: 1 }));
      if (recent >= runtime.resetsOfAccountMax) {
        unit.limitReached('resetsOfAccountMax', user.id);
        return null;
      }
      const asked = { actor: { kind: 'unknown' }, via: 'console', origin: { requestId, address } } as const;
      return { to: user.email, ...(await createReset(unit, user.id, { baseUrl, isMailed: true }, asked)) };
    });
    if (made === null) return;
    const { to, resetId, link } = made;
    const messageId = messageIdOf(resetId, new URL(baseUrl).hostname);
    const text = passwordResetMail({ link, address });
    const delivery = await sendMail(mail, { to, messageId, ...text, priority: 'high' });
    if (delivery.kind === 'accepted' || delivery.kind === 'uncertain') return;
    // The next attempt creates a new link.
    await storesOf(runtime.db.session()).passwordResets.remove(resetId);
    throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });
