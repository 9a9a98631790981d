import { IconBellRinging, IconMail, IconMessage, IconPhone, IconSend, type TablerIcon } from '@tabler/icons-react';

import { type Channel, CHANNELS } from '#modules/contacts/decide/channel.ts';

/** Channels in the order shown. Push is first: it reaches this very device. */
export const SHOWN_CHANNELS: readonly Channel[] = ['push', ...CHANNELS.filter((channel) => channel !== 'push')];

const ICONS: Readonly<Partial<Record<Channel, TablerIcon>>> = {
  sms: IconMessage,
  call: IconPhone,
  push: IconBellRinging,
  email: IconMail,
};

export function ChannelIcon({ channel, size = 18 }: { readonly channel: Channel; readonly size?: number }) {
  const Icon = ICONS[channel] ?? IconSend;
  return <Icon size={size} stroke={1.75} aria-hidden />;
}
