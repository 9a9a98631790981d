import { keysOf } from '#kernel/records.ts';

/** Provider of a channel, in the form that follows "Sent". */
export const PROVIDERS = {
  twilio: 'by Twilio',
  simulator: 'to the phone simulator, because no Twilio account is configured',
  smtp: 'by the mail server',
  'web-push': "by the browsers' push services",
} as const;

export type Provider = keyof typeof PROVIDERS;

/** Kind of a person's address: the team member's number, the account's address, or the browsers that subscribed. */
export type AddressKind = 'phone' | 'email' | 'browser';

/** Declaration of a channel without its sender, which is in `notify/channels`. */
interface ChannelDeclaration {
  readonly title: string;
  /** Title within a sentence. */
  readonly name: string;
  /** Term for one message. */
  readonly message: string;
  /** Form that follows "by" in a timeline: how a page goes out, or how somebody answered. */
  readonly by: string;
  /** Whether people hear it, and answer it while they do. */
  readonly isCall: boolean;
  /** Whether it makes a noise at night. */
  readonly wakes: boolean;
  /** Whether its provider reports when a message has arrived; others only report that they have accepted it. */
  readonly reportsArrival: boolean;
  readonly addressKind: AddressKind;
  /** Switch by which members turn it on and off; null: it is on for everybody it can reach. */
  readonly preference: string | null;
  readonly provider: Exclude<Provider, 'simulator'>;
  /** Settings that the operator needs for it; empty when there are none. */
  readonly settings: string;
}

const TWILIO_SETTINGS = 'TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM';

/** Channels, in the order in which they are shown. */
export const CHANNEL_DECLARATIONS = {
  sms: {
    title: 'SMS',
    name: 'SMS',
    message: 'SMS',
    by: 'SMS',
    isCall: false,
    wakes: true,
    reportsArrival: true,
    addressKind: 'phone',
    preference: 'smsEnabled',
    provider: 'twilio',
    settings: TWILIO_SETTINGS,
  },
  call: {
    title: 'Phone call',
    name: 'phone call',
    message: 'call',
    by: 'phone',
    isCall: true,
    wakes: true,
    reportsArrival: true,
    addressKind: 'phone',
    preference: 'callEnabled',
    provider: 'twilio',
    settings: TWILIO_SETTINGS,
  },
  push: {
    title: 'Push',
    name: 'push',
    message: 'push message',
    by: 'push',
    isCall: false,
    wakes: true,
    reportsArrival: false,
    addressKind: 'browser',
    preference: 'pushEnabled',
    provider: 'web-push',
    settings: '',
  },
  email: {
    title: 'Mail',
    name: 'mail',
    message: 'mail',
    by: 'mail',
    isCall: false,
    wakes: false,
    reportsArrival: false,
    addressKind: 'email',
    preference: 'emailEnabled',
    provider: 'smtp',
    settings: 'SMTP_URL and MAIL_FROM',
  },
} as const satisfies Record<string, ChannelDeclaration>;

export type Channel = keyof typeof CHANNEL_DECLARATIONS;

export const CHANNELS: readonly Channel[] = keysOf(CHANNEL_DECLARATIONS);

/** Switches by which members turn channels on and off. */
export type ChannelPreference = NonNullable<(typeof CHANNEL_DECLARATIONS)[Channel]['preference']>;

export const CHANNEL_PREFERENCES: readonly ChannelPreference[] = CHANNELS.flatMap(
  (channel) => declarationOf(channel).preference ?? [],
);

export function declarationOf(
  channel: Channel,
): ChannelDeclaration & { readonly preference: ChannelPreference | null } {
  return CHANNEL_DECLARATIONS[channel];
}

export function isChannel(text: string): text is Channel {
  return Object.hasOwn(CHANNEL_DECLARATIONS, text);
}
