import { Temporal } from '#kernel/time.ts';

/** Whether a channel takes messages: `unused` when it has not been tried lately; `simulated` when they reach nobody. */
export const CHANNEL_STATES = ['not_configured', 'simulated', 'unused', 'works', 'failing'] as const;

export type ChannelState = (typeof CHANNEL_STATES)[number];

/** History of a channel, from the messages that went through it. */
export interface ChannelHistory {
  /** Time when the provider last accepted a message; null for never. Whether a person answered it does not matter. */
  readonly lastSucceededAt: Temporal.Instant | null;
  /** Time when the provider last refused a message or did not answer; null for never. */
  readonly lastFailedAt: Temporal.Instant | null;
}

/** Returns the state of a channel. It fails from a rejection or silence of its provider until a message is accepted. */
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
