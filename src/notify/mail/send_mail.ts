import { PassThrough } from 'node:stream';

import { certificateFault } from '#kernel/errors.ts';
import { OWN_MAIL_HEADER } from '#modules/alerts/decide/mail_alert.ts';
import type { Delivery } from '#notify/channel_sender.ts';
import type { MailText } from '#notify/mail/mail_pieces.ts';

/** Server that sends mail. */
export interface MailServer {
  /** Address `smtp://…` or `smtps://…`, with user and password if the server asks for them. */
  readonly url: string;
  /** Sender as in From: an address, or a name with one. */
  readonly from: string;
  /** Certificates (PEM) of the authority that signed the server's; null for those of Node. */
  readonly ca: string | null;
}

/** Mail to one person. */
export interface Mail extends MailText {
  readonly to: string;
  readonly messageId: string;
  readonly inReplyTo?: string;
  readonly references?: string;
  readonly priority: 'high' | 'normal';
  /** Address that takes the reader off the list with one click (RFC 8058); absent for mail that is on no list. */
  readonly unsubscribeUrl?: string;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Timeout for the whole SMTP conversation; many servers scan a mail before they accept it. */
export const SEND_TIMEOUT_MS = 20_000;

export function messageIdOf(id: string, host: string): string {
  return `<${id}@${host}>`;
}

/** Loads the library, so that the first mail need not wait for it. */
export const loadMailLibrary = async () => await import('nodemailer');

async function connect(server: MailServer) {
  const { createTransport } = await loadMailLibrary();
  return createTransport({
    url: server.url,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SEND_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(server.ca !== null && { tls: { ca: server.ca } }),
  });
}

/**
 * Connects, and signs in where the address has a password. Returns the reason why no mail would ever leave; null when it
 * would, or when the server is away for now.
 */
export async function findMailFault(server: MailServer): Promise<string | null> {
  const transport = await connect(server);
  try {
    await transport.verify();
    return null;
  } catch (error) {
    const delivery = deliveryOfError(error, false);
    return delivery.kind === 'rejected' ? delivery.reason : null;
  } finally {
    transport.close();
  }
}

/** Hands a mail to the server, over a connection of its own. */
export async function sendMail(server: MailServer, { to, unsubscribeUrl, ...mail }: Mail): Promise<Delivery> {
  const transport = await connect(server);
  let hasLeft = false;
  transport.use('stream', ({ message }, done) => {
    message.processFunc((whole) => whole.pipe(new PassThrough()).once('end', () => (hasLeft = true)));
    done();
  });
  try {
    const sent = await transport.sendMail({
      ...mail,
      from: server.from,
      to: { name: '', address: to },
      headers: {
        'Auto-Submitted': 'auto-generated',
        [OWN_MAIL_HEADER]: '1',
        ...(unsubscribeUrl !== undefined && {
          'List-Unsubscribe': `<${unsubscribeUrl}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        }),
      },
      signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
    });
    return { kind: 'accepted', providerId: sent.messageId };
  } catch (error) {
    return deliveryOfError(error, hasLeft);
  }
}

/**
 * Returns the delivery for an error, by the server's reply code, since the library calls 550 and 451 by the same name
 * (RFC 5321 §4.2.1).
 */
function deliveryOfError(error: unknown, hasLeft: boolean): Delivery {
  const { responseCode, code } = error as { responseCode?: unknown; code?: unknown };
  if (typeof responseCode === 'number' && responseCode >= 400) {
    if (responseCode < 500) return { kind: 'retry', reason: 'provider_busy' };
    if (code === 'EAUTH') return { kind: 'rejected', reason: 'provider_refused_credentials' };
    return { kind: 'rejected', reason: code === 'ETLS' ? 'provider_without_encryption' : reasonOf(responseCode) };
  }
  const certificate = certificateFault(error);
  if (certificate !== null) return { kind: 'rejected', reason: `provider_certificate_${certificate}` };
  if (hasLeft) return { kind: 'uncertain', reason: 'provider_silent' };
  return { kind: 'retry', reason: 'provider_unreachable' };
}

function reasonOf(responseCode: number): string {
  if (responseCode === 550 || responseCode === 551 || responseCode === 553) return 'bad_address';
  if (responseCode === 552) return 'mailbox_full';
  return `provider_refused_${responseCode}`;
}
