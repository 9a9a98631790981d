import type { AnswerLinks } from '#notify/answer_link.ts';
import type { ChannelSender } from '#notify/channel_sender.ts';
import type { Message } from '#notify/message.ts';
import { loadMailLibrary, type MailServer, messageIdOf, sendMail, SEND_TIMEOUT_MS } from '#notify/mail/send_mail.ts';
import { mailText } from '#notify/channels/email/text.ts';

/**
 * Mail by SMTP. A server that has the whole message and does not answer leaves its fate unknown, and no server can be
 * asked: so such a mail counts as sent, unconfirmed.
 */
export function emailSender(server: MailServer, links: AnswerLinks, baseUrl: string): ChannelSender {
  const host = new URL(baseUrl).hostname;
  return {
    timeoutMs: SEND_TIMEOUT_MS,
    uncertainAttemptsMax: 1,
    load: loadMailLibrary,
    send: (outgoing) =>
      sendMail(server, {
        to: outgoing.to ?? '',
        messageId: messageIdOf(outgoing.notificationId, host),
        ...threadOf(outgoing.message, host),
        ...mailText(outgoing, links, baseUrl),
        priority: outgoing.message.kind === 'page' ? 'high' : 'normal',
      }),
    listSent: async () => [],
  };
}

/**
 * Returns the headers of the thread: every mail about an incident refers to the same first one, which need not exist.
 */
function threadOf(message: Message, host: string): { inReplyTo?: string; references?: string } {
  if (message.kind !== 'page' && message.kind !== 'news') return {};
  const first = messageIdOf(message.subject.id, host);
  return { inReplyTo: first, references: first };
}
