import type { Channel } from '#core/oncall/channel.ts';
import type { AnswerLinks } from '#notify/answer_link.ts';
import type { ChannelSender } from '#notify/channel_sender.ts';
import { callSender } from '#notify/channels/call/sender.ts';
import { emailSender } from '#notify/channels/email/sender.ts';
import { type PushPost, pushSender, type PushSubscriptions } from '#notify/channels/push/sender.ts';
import { smsSender } from '#notify/channels/sms/sender.ts';
import type { MailServer } from '#notify/mail/send_mail.ts';
import { createTwilioClient, type TwilioAccount } from '#notify/twilio/client.ts';
import type { VapidKeys } from '#notify/channels/push/vapid.ts';

/** The channels that the operator has set up; a channel that is absent is not configured. */
export type Senders = ReadonlyMap<Channel, ChannelSender>;

interface NotifySettings {
  readonly baseUrl: string;
  readonly links: AnswerLinks;
  /** null: neither SMS nor calls. */
  readonly twilio: TwilioAccount | null;
  /** null: no mail. */
  readonly mail: MailServer | null;
  /** Push needs nothing from the operator. */
  readonly push: { readonly keys: VapidKeys; readonly subscriptions: PushSubscriptions; readonly post: PushPost };
}

export function createSenders({ baseUrl, links, twilio, mail, push }: NotifySettings): Senders {
  const senders: ChannelSender[] = [];
  if (twilio !== null) {
    const client = createTwilioClient(twilio);
    senders.push(smsSender(client, twilio, baseUrl), callSender(client, twilio, baseUrl));
  }
  const contact = contactOf(baseUrl, mail);
  senders.push(pushSender(push.subscriptions, { keys: push.keys, post: push.post, contact, baseUrl }, links));
  if (mail !== null) senders.push(emailSender(mail, links, baseUrl));
  return new Map(senders.map((sender) => [sender.channel, sender]));
}

/** Push services take only these two kinds of address. */
function contactOf(baseUrl: string, mail: MailServer | null): string {
  if (baseUrl.startsWith('https://')) return baseUrl;
  const address = mail === null ? 'tocsin@localhost' : (/<([^>]+)>\s*$/.exec(mail.from)?.[1] ?? mail.from);
  return `mailto:${address.trim()}`;
}
