import { Temporal } from '#kernel/time.ts';

/** Whether a channel takes messages: `unused` when it has not been tried lately; `simulated` when they reach nobody. */
export const CHANNEL_STATES = ['not_configured', 'simulated', 'unused', 'works', 'failing'] as const;

export type ChannelState = (typeof CHANNEL_STATES)[number];

/** What is known of a channel from the messages that went through it. */
export interface ChannelHistory {
  /** When the provider last accepted a message. Whether a person answered it says nothing about the channel. */
  readonly lastSucceededAt: Temporal.Instant | null;
  /** When the provider last refused a message or did not answer. */
  readonly lastFailedAt: Temporal.Instant | null;
}

/** A channel fails from the moment its provider rejects a message or is silent, until it accepts one again. */
export function channelStateOf(
  { isConfigured, isSimulated }: { readonly isConfigured: boolean; readonly isSimulated: boolean },
  history: ChannelHistory | undefined,
): ChannelState {
  if (!isConfigured) return 'not_configured';
  if (isSimulated) return 'simulated';
  const { lastSucceededAt = null, lastFailedAt = null } = history ?? {};
  if (lastFailedAt === null) return lastSucceededAt === null ? 'unused' : 'works';
  const hasRecovered = lastSucceededAt !== null && Temporal.Instant.compare(lastSucceededAt, lastFailedAt) > 0;
  return hasRecovered ? 'works' : 'failing';
}
