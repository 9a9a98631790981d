import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, nullable } from '#actions/fields.ts';
import { ChannelName } from '#actions/policies/view.ts';
import { type Channel, CHANNELS, declarationOf, type Provider, PROVIDERS } from '#core/oncall/channel.ts';
import { CHANNEL_STATES, channelStateOf } from '#core/oncall/channel_state.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import { keysOf } from '#kernel/keys_of.ts';

const DeliveryHealthView = Type.Object({
  channels: Type.Array(
    Type.Object({
      channel: ChannelName,
      configured: Type.Boolean(),
      via: nullable(Type.Enum(keysOf(PROVIDERS))),
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

export const getDeliveryHealth = defineAction({
  name: 'get_delivery_health',
  consoleOnly: true,
  summary: 'Show which channels are set up, with which provider, and how recent deliveries went.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: DeliveryHealthView,
  example: {},
  async handle(_input, { caller, stores, now, configuredChannels, installation }) {
    const health = await stores.deliveries.listHealth(caller.orgId, now.subtract({ hours: DAYS_BACK * 24 }));
    const byChannel = new Map(health.map((entry) => [entry.channel, entry]));
    return {
      channels: CHANNELS.map((channel) => {
        const configured = configuredChannels.has(channel);
        const found = byChannel.get(channel);
        return {
          channel,
          configured,
          state: channelStateOf(configured, found),
          via: configured ? providerOf(channel, installation.phoneProvider) : null,
          lastSucceededAt: toTimestampOrNull(found?.lastSucceededAt ?? null),
          lastFailedAt: toTimestampOrNull(found?.lastFailedAt ?? null),
          lastFailure: found?.lastFailure ?? null,
        };
      }),
    };
  },
});

function providerOf(channel: Channel, phoneProvider: 'twilio' | 'simulator'): Provider {
  const { provider } = declarationOf(channel);
  return provider === 'twilio' ? phoneProvider : provider;
}
