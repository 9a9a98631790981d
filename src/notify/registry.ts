import { type Channel, CHANNELS } from '#modules/contacts/decide/channel.ts';
import type { ValuesOf } from '#kernel/config.ts';
import type { AnswerLinks } from '#notify/answer_link.ts';
import type { ChannelSender, ReportCallback } from '#notify/channel.ts';
import { callReports } from '#notify/channels/call/reports.ts';
import { callSender } from '#notify/channels/call/sender.ts';
import { emailSender } from '#notify/channels/email/sender.ts';
import { type PushPost, pushSender, type PushSubscriptions, type VapidKeys } from '#notify/channels/push/sender.ts';
import { smsReports } from '#notify/channels/sms/reports.ts';
import { smsSender } from '#notify/channels/sms/sender.ts';
import { MAIL_SETTINGS, type MailServer } from '#notify/mail/send_mail.ts';
import {
  createTwilioClient,
  TWILIO_SETTINGS,
  type TwilioAccount,
  twilioCallbacks,
  type TwilioClient,
} from '#notify/twilio/client.ts';

/** The channels that the operator has set up; a channel that is absent is not configured. */
export type Senders = ReadonlyMap<Channel, ChannelSender>;

/** Settings by which the operator enables the channels; each is declared in the folder of its channel or provider. */
export const CHANNEL_SETTINGS = { ...TWILIO_SETTINGS, ...MAIL_SETTINGS };

interface NotifySettings {
  readonly config: ValuesOf<typeof CHANNEL_SETTINGS> & { readonly baseUrl: string };
  readonly links: AnswerLinks;
  /** Twilio account; null disables SMS and calls. */
  readonly twilio: TwilioAccount | null;
  /** Mail server; null disables mail. */
  readonly mail: MailServer | null;
  /** Push needs nothing from the operator. */
  readonly push: { readonly keys: VapidKeys; readonly subscriptions: PushSubscriptions; readonly post: PushPost };
}

interface SenderContext extends Omit<NotifySettings, 'twilio'> {
  readonly baseUrl: string;
  readonly twilio: { readonly account: TwilioAccount; readonly client: TwilioClient } | null;
}

/** The sender of each channel; null where the operator has not set it up. */
const SENDERS: Readonly<Record<Channel, (context: SenderContext) => ChannelSender | null>> = {
  sms: ({ twilio, links, baseUrl }) => twilio && smsSender(twilio.client, twilio.account, links, baseUrl),
  call: ({ twilio, baseUrl }) => twilio && callSender(twilio.client, twilio.account, baseUrl),
  push: ({ push, config, links, baseUrl }) =>
    pushSender({ ...push, mailFrom: config.mailFrom ?? null, baseUrl }, links),
  email: ({ mail, links, baseUrl }) => mail && emailSender(mail, links, baseUrl),
};

/** Returns the callbacks for reports of providers; see `ReportCallback`. */
export function reportCallbacks({ twilio }: Pick<NotifySettings, 'twilio'>): readonly ReportCallback[] {
  const provider = twilioCallbacks(twilio);
  return [smsReports(provider), callReports(provider)];
}

export function createSenders({ twilio: account, ...settings }: NotifySettings): Senders {
  const twilio = account && { account, client: createTwilioClient(account) };
  const context = { ...settings, baseUrl: settings.config.baseUrl, twilio };
  return new Map(
    CHANNELS.flatMap((channel) => {
      const sender = SENDERS[channel](context);
      return sender === null ? [] : [[channel, sender]];
    }),
  );
}
