/** The ways to reach a person, in the order in which they are shown. */
export const CHANNELS = ['sms', 'call', 'push', 'email'] as const;

export type Channel = (typeof CHANNELS)[number];
