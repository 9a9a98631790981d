import { type Icon, IconBellRinging, IconMail, IconMessage, IconPhone, IconSend } from '#console/icons.ts';
import { type AddressKind, type Channel, CHANNELS, declarationOf } from '#modules/contacts/decide/channel.ts';
import { unusedBecause } from '#modules/incidents/decide/reasons.ts';

/** Channels in the order shown. Push is first: it reaches this very device. */
export const SHOWN_CHANNELS: readonly Channel[] = ['push', ...CHANNELS.filter((channel) => channel !== 'push')];

const ICONS: Readonly<Partial<Record<Channel, Icon>>> = {
  sms: IconMessage,
  call: IconPhone,
  push: IconBellRinging,
  email: IconMail,
};

export function ChannelIcon({ channel, size = 18 }: { readonly channel: Channel; readonly size?: number }) {
  const Icon = ICONS[channel] ?? IconSend;
  return <Icon size={size} stroke={1.75} aria-hidden />;
}

const NO_ADDRESS: Record<AddressKind, string> = { phone: 'no number', browser: 'no device', email: 'no mail address' };

/** Returns why a channel does not reach somebody, in a few words that follow a colon. */
export function whyUnused(channel: Channel, reason: string): string {
  switch (reason) {
    case 'no_address':
      return NO_ADDRESS[declarationOf(channel).addressKind];
    case 'off':
    case 'channel_off':
      return 'switched off';
    case 'stopped':
      return 'stopped by STOP';
    case 'simulated':
      return 'goes to the phone simulator';
    case 'not_configured':
    case 'channel_not_configured':
      return 'not set up on this server';
    default:
      return unusedBecause(reason);
  }
}
