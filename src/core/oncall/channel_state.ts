import { Temporal } from '#kernel/time.ts';

/** Whether a channel takes messages: `unused` when it has not been tried lately. */
export const CHANNEL_STATES = ['not_configured', 'unused', 'works', 'failing'] as const;

export type ChannelState = (typeof CHANNEL_STATES)[number];

/** What is known of a channel from the messages that went through it. */
export interface ChannelHistory {
  /** When the provider last took a message. That a person did not answer it says nothing about the channel. */
  readonly lastSucceededAt: Temporal.Instant | null;
  /** When the provider last refused a message or did not answer. */
  readonly lastFailedAt: Temporal.Instant | null;
}

/** A channel fails from the moment its provider refuses or is silent until it takes a message again. */
export function channelStateOf(isConfigured: boolean, history: ChannelHistory | undefined): ChannelState {
  if (!isConfigured) return 'not_configured';
  const { lastSucceededAt = null, lastFailedAt = null } = history ?? {};
  if (lastFailedAt === null) return lastSucceededAt === null ? 'unused' : 'works';
  const hasRecovered = lastSucceededAt !== null && Temporal.Instant.compare(lastSucceededAt, lastFailedAt) > 0;
  return hasRecovered ? 'works' : 'failing';
}
