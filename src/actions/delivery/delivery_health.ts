import { type Static, Type } from 'typebox';

import { nullable } from '#actions/fields.ts';
import { ChannelName } from '#actions/policies/view.ts';
import { type Channel, CHANNELS } from '#core/oncall/channel.ts';
import { CHANNEL_STATES, channelStateOf } from '#core/oncall/channel_state.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestampOrNull } from '#kernel/time.ts';
import type { Stores } from '#storage/postgres/stores.ts';

const VIAS = ['twilio', 'simulator', 'smtp', 'web-push'] as const;

export const DeliveryHealthView = Type.Object({
  channels: Type.Array(
    Type.Object({
      channel: ChannelName,
      configured: Type.Boolean(),
      via: nullable(Type.Enum([...VIAS])),
      state: Type.Enum([...CHANNEL_STATES], {
        description: 'failing: its provider refused the last message or did not answer, and has taken none since',
      }),
      lastSucceededAt: nullable(
        Type.String({ format: 'date-time', description: 'when the provider last took a message' }),
      ),
      lastFailedAt: nullable(
        Type.String({ format: 'date-time', description: 'when the provider last refused a message or did not answer' }),
      ),
      lastFailure: nullable(Type.String({ description: 'why it failed' })),
    }),
    { description: 'of messages of the last 30 days' },
  ),
});

const DAYS_BACK = 30;

/** Which channels are set up, through what, and how they fared lately. */
export async function readDeliveryHealth(
  stores: Stores,
  orgId: Id<'org'>,
  settings: { readonly configured: ReadonlySet<Channel>; readonly isSimulator: boolean },
  now: Temporal.Instant,
): Promise<Static<typeof DeliveryHealthView>> {
  const health = await stores.notifications.listHealth(orgId, now.subtract({ hours: DAYS_BACK * 24 }));
  const byChannel = new Map(health.map((entry) => [entry.channel, entry]));
  return {
    channels: CHANNELS.map((channel) => {
      const configured = settings.configured.has(channel);
      const found = byChannel.get(channel);
      return {
        channel,
        configured,
        state: channelStateOf(configured, found),
        via: configured ? viaOf(channel, settings.isSimulator) : null,
        lastSucceededAt: toTimestampOrNull(found?.lastSucceededAt ?? null),
        lastFailedAt: toTimestampOrNull(found?.lastFailedAt ?? null),
        lastFailure: found?.lastFailure ?? null,
      };
    }),
  };
}

function viaOf(channel: Channel, isSimulator: boolean): (typeof VIAS)[number] {
  switch (channel) {
    case 'sms':
    case 'call':
      return isSimulator ? 'simulator' : 'twilio';
    case 'push':
      return 'web-push';
    case 'email':
      return 'smtp';
  }
}
