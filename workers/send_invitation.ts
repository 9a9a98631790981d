import type { Cipher } from '#auth/cipher.ts';
import { sendInvitation } from '#storage/queue/jobs.ts';
import { asId } from '#kernel/ids.ts';
import { messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import { invitationMail } from '#notify/mail/account_mail_text.ts';
import { storesOf } from '#modules/stores.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import type { AccountMailRuntime } from '#workers/send_password_reset.ts';

interface InvitationRuntime extends AccountMailRuntime {
  readonly invitationCipher: Cipher;
}

export const onSendInvitation = (runtime: InvitationRuntime): JobHandler =>
  handleJob(sendInvitation, async ({ invitationId, orgId, sealedLink }) => {
    const { mail, baseUrl, db, clock, invitationCipher } = runtime;
    const { invitations } = storesOf(db.session());
    const invitation = await invitations.find(asId('org', orgId), invitationId, clock.now());
    if (mail === null || invitation === null || !invitation.isOpen) return;
    const { organizationName: organization, invitedBy, role, email: to } = invitation;
    const link = invitationCipher.decrypt(Buffer.from(sealedLink, 'base64'));
    const messageId = messageIdOf(invitationId, new URL(baseUrl).hostname);
    const text = invitationMail({ organization, invitedBy, role, link });
    const delivery = await sendMail(mail, { to, messageId, ...text, priority: 'normal' });
    if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });
