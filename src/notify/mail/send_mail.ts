import { PassThrough } from 'node:stream';

import type { Delivery } from '#notify/channel_sender.ts';
import type { MailText } from '#notify/mail/mail_pieces.ts';

/** How mail leaves. */
export interface MailServer {
  /** `smtp://` or `smtps://`, with user and password where the server asks for them. */
  readonly url: string;
  /** As it stands in From: an address, or a name with one. */
  readonly from: string;
}

/** One mail to one person. */
export interface Mail extends MailText {
  readonly to: string;
  readonly messageId: string;
  readonly inReplyTo?: string;
  readonly references?: string;
  readonly priority: 'high' | 'normal';
}

const CONNECT_TIMEOUT_MS = 5_000;
/** For the whole conversation; many servers look through a mail before they take it. */
export const SEND_TIMEOUT_MS = 20_000;

export function messageIdOf(id: string, host: string): string {
  return `<${id}@${host}>`;
}

/** Hands a mail to the server, over a connection of its own. */
export async function sendMail(server: MailServer, { to, ...mail }: Mail): Promise<Delivery> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: server.url,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SEND_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
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
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
    });
    return { kind: 'accepted', providerId: sent.messageId };
  } catch (error) {
    return deliveryOfError(error, hasLeft);
  }
}

/** By the server's reply code, since the library calls 550 and 451 by the same name (RFC 5321 §4.2.1). */
function deliveryOfError(error: unknown, hasLeft: boolean): Delivery {
  const { responseCode, code } = error as { responseCode?: unknown; code?: unknown };
  if (typeof responseCode === 'number' && responseCode >= 400) {
    if (responseCode < 500) return { kind: 'retry', reason: 'provider_busy' };
    return { kind: 'rejected', reason: code === 'EAUTH' ? 'provider_refused_credentials' : reasonOf(responseCode) };
  }
  if (hasLeft) return { kind: 'uncertain', reason: 'provider_silent' };
  return { kind: 'retry', reason: 'provider_unreachable' };
}

function reasonOf(responseCode: number): string {
  if (responseCode === 550 || responseCode === 551 || responseCode === 553) return 'bad_address';
  if (responseCode === 552) return 'mailbox_full';
  return `provider_refused_${responseCode}`;
}
