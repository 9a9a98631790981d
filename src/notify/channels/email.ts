import { PassThrough } from 'node:stream';

import type { AnswerLinks } from '#notify/answer_link.ts';
import type { ChannelSender, Delivery } from '#notify/channel_sender.ts';
import type { Message } from '#notify/message.ts';
import { mailText } from '#notify/texts/mail_text.ts';

/** How mail leaves. */
export interface MailServer {
  /** `smtp://` or `smtps://`, with user and password where the server asks for them. */
  readonly url: string;
  /** As it stands in From: an address, or a name with one. */
  readonly from: string;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** For the whole conversation; many servers look through a mail before they take it. */
const SEND_TIMEOUT_MS = 20_000;

/**
 * Mail by SMTP, one connection a message. A server that has the whole message and does not answer leaves its fate
 * unknown, and no server can be asked: so such a mail counts as sent, unconfirmed.
 */
export function emailSender(server: MailServer, links: AnswerLinks, baseUrl: string): ChannelSender {
  const host = new URL(baseUrl).hostname;
  return {
    channel: 'email',
    timeoutMs: SEND_TIMEOUT_MS,
    uncertainTriesMax: 1,
    async send(outgoing) {
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
      transport.use('stream', (mail, done) => {
        mail.message.processFunc((whole) => whole.pipe(new PassThrough()).once('end', () => (hasLeft = true)));
        done();
      });
      try {
        const sent = await transport.sendMail({
          from: server.from,
          to: { name: '', address: outgoing.to ?? '' },
          messageId: messageIdOf(outgoing.notificationId, host),
          ...threadOf(outgoing.message, host),
          ...mailText(outgoing, links, baseUrl),
          headers: { 'Auto-Submitted': 'auto-generated' },
          priority: outgoing.message.kind === 'page' ? 'high' : 'normal',
          signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
        });
        return { kind: 'accepted', providerId: sent.messageId };
      } catch (error) {
        return deliveryOfError(error, hasLeft);
      }
    },
    listSent: async () => [],
  };
}

function messageIdOf(id: string, host: string): string {
  return `<${id}@${host}>`;
}

/** Every mail about an incident refers to the same first one, which need not exist: so they become one thread. */
function threadOf(message: Message, host: string): { inReplyTo?: string; references?: string } {
  if (message.kind === 'digest' || message.kind === 'test') return {};
  const first = messageIdOf(message.subject.id, host);
  return { inReplyTo: first, references: first };
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
