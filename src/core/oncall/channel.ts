import { keysOf } from '#kernel/keys_of.ts';

/** Who carries the messages of a channel, after "Sent". */
export const PROVIDERS = {
  twilio: 'by Twilio',
  simulator: 'to the phone simulator, because no Twilio account is configured',
  smtp: 'by the mail server',
  'web-push': "by the browsers' push services",
} as const;

export type Provider = keyof typeof PROVIDERS;

/** What a person is found by: the number of a team member, the address of the account, or the browsers that subscribed. */
export type AddressKind = 'phone' | 'email' | 'browser';

/** All that is known of a channel beside its sender, which is in `notify/channels`. */
interface ChannelDeclaration {
  readonly title: string;
  /** The same within a sentence. */
  readonly name: string;
  /** One message. */
  readonly message: string;
  /** After "by", in a timeline: how a page goes out, or how somebody answered. */
  readonly by: string;
  /** People hear it, and answer it while they do. */
  readonly isCall: boolean;
  /** It makes a noise at night. */
  readonly wakes: boolean;
  /** Its provider says when a message has arrived; others only say that they have accepted it. */
  readonly reportsArrival: boolean;
  readonly addressKind: AddressKind;
  /** What members switch it on and off by; null: it is on for everybody whom it finds. */
  readonly preference: string | null;
  readonly provider: Exclude<Provider, 'simulator'>;
  /** What the operator sets to have it; empty when nothing is needed. */
  readonly settings: string;
}

const TWILIO_SETTINGS = 'TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM';

/** The ways to reach a person, in the order in which they are shown. */
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

/** What members switch channels on and off by. */
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
