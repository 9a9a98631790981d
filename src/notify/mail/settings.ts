import { optionalText, optionalUrl, type ValuesOf } from '#kernel/config.ts';
import type { MailServer } from '#notify/mail/send_mail.ts';

/** The server by which mail goes out: pages, and mail to people about their accounts. */
export const MAIL_SETTINGS = {
  smtpUrl: optionalUrl('SMTP_URL', ['smtp', 'smtps'], 'mail server', { isSecret: true }),
  mailFrom: optionalText('MAIL_FROM', '^.+@.+$', 'a mail address', 'sender of mail; required with `SMTP_URL`', {
    requiredWith: 'SMTP_URL',
  }),
};

/** Null when none is configured. */
export function mailServerOf({ smtpUrl: url, mailFrom: from }: ValuesOf<typeof MAIL_SETTINGS>): MailServer | null {
  return url === undefined || from === undefined ? null : { url, from };
}
