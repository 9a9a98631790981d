import { readFileSync } from 'node:fs';

import { optionalText, optionalUrl, type ValuesOf } from '#kernel/config.ts';
import type { MailServer } from '#notify/mail/send_mail.ts';

/** The server by which mail goes out: pages, and mail to people about their accounts. */
export const MAIL_SETTINGS = {
  smtpUrl: optionalUrl('SMTP_URL', ['smtp', 'smtps'], 'mail server', { isSecret: true }),
  mailFrom: optionalText('MAIL_FROM', '^.+@.+$', 'a mail address', 'sender of mail; required with `SMTP_URL`', {
    requiredWith: 'SMTP_URL',
  }),
  smtpCaFile: optionalText(
    'SMTP_CA_FILE',
    '.',
    'a path',
    'file with the authority (PEM) that signed the certificate of the mail server, or with that certificate itself',
    { unset: 'those of Node' },
  ),
};

/** Returns the mail server; null if none is configured. */
export function mailServerOf({
  smtpUrl: url,
  mailFrom: from,
  smtpCaFile,
}: ValuesOf<typeof MAIL_SETTINGS>): MailServer | null {
  if (url === undefined || from === undefined) return null;
  return { url, from, ca: smtpCaFile === undefined ? null : readFileSync(smtpCaFile, 'utf8') };
}
