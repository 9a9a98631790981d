import { IconBellRinging, IconMail, IconMessage, IconPhone } from '@tabler/icons-react';

import type { Channel } from '#console/api/organization.ts';

export const CHANNELS: readonly Channel[] = ['push', 'sms', 'call', 'email'];

export const CHANNEL_NAMES: Record<Channel, string> = { sms: 'SMS', call: 'phone call', push: 'push', email: 'mail' };

export const CHANNEL_TITLES: Record<Channel, string> = { sms: 'SMS', call: 'Phone call', push: 'Push', email: 'Mail' };

const ICONS = { sms: IconMessage, call: IconPhone, push: IconBellRinging, email: IconMail };

export function ChannelIcon({ channel, size = 18 }: { readonly channel: Channel; readonly size?: number }) {
  const Icon = ICONS[channel];
  return <Icon size={size} stroke={1.75} aria-hidden />;
}
