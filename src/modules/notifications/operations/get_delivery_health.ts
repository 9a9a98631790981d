import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { nullable } from '#actions/fields.ts';
import { keysOf } from '#kernel/records.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import { type Channel, CHANNELS, declarationOf, type Provider, PROVIDERS } from '#modules/contacts/decide/channel.ts';
import { CHANNEL_STATES, channelStateOf } from '#modules/contacts/decide/reachability.ts';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { judgePager } from '#modules/notifications/decide/pager_health.ts';
import { ChannelName } from '#modules/policies/view.ts';

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
      fault: nullable(Type.String({ description: 'what the operator has to mend, known before a message fails' })),
    }),
    { description: 'of messages of the last 30 days' },
  ),
  timeZoneRules: Type.Object(
    { used: Type.String(), fault: nullable(Type.String({ description: 'what is wrong with it, and what to do' })) },
    { description: 'the release of the time zone database by which hand-overs are computed' },
  ),
});

const DAYS_BACK = 30;

const NO_PUSH_CONTACT =
  'Push messages name no contact of this server, for which push services, Apple’s among them, may refuse them. Set MAIL_FROM, or BASE_URL to a public https address.';

export const getDeliveryHealth = defineOperation({
  name: 'get_delivery_health',
  summary: 'Show which channels are set up, with which provider, and how recent deliveries went.',
  permission: 'organization:view',
  effect: 'read',
  result: DeliveryHealthView,
  async handle(_input, { caller, stores, now, configuredChannels, installation }) {
    const since = now.subtract({ hours: DAYS_BACK * 24 });
    const health = await stores.deliveries.listHealth(caller.orgId, since, installation.simulatedIds);
    const mailFault = configuredChannels.has('email') ? await installation.findMailFault() : null;
    const faults: Readonly<Partial<Record<Channel, string | null>>> = {
      push: installation.hasPushContact ? null : NO_PUSH_CONTACT,
      email: mailFault === null ? null : `No mail leaves: ${reasonOf(mailFault)}.`,
    };
    const byChannel = new Map(health.map((entry) => [entry.channel, entry]));
    const { used, fault } = installation.timeZoneRules;
    return {
      timeZoneRules: { used, fault },
      channels: CHANNELS.map((channel) => {
        const configured = configuredChannels.has(channel);
        const counts = byChannel.get(channel);
        return {
          channel,
          configured,
          state: channelStateOf(
            { isConfigured: configured, isSimulated: installation.simulatedChannels.has(channel) },
            counts,
          ),
          via: configured ? providerOf(channel, installation.phoneProvider) : null,
          lastSucceededAt: toTimestampOrNull(counts?.lastSucceededAt ?? null),
          lastFailedAt: toTimestampOrNull(counts?.lastFailedAt ?? null),
          lastFailure: counts?.lastFailure ?? null,
          fault: configured ? (faults[channel] ?? null) : null,
        };
      }),
    };
  },
});

function providerOf(channel: Channel, phoneProvider: 'twilio' | 'simulator'): Provider {
  const { provider } = declarationOf(channel);
  return provider === 'twilio' ? phoneProvider : provider;
}

export const getLateness = defineOperation({
  name: 'get_lateness',
  summary: 'Say what makes this server evaluate rules or page people late, as `/readyz` says it.',
  permission: 'oncall:view',
  effect: 'read',
  result: Type.Object({
    late: Type.Array(Type.String(), {
      description: 'in words; empty while rules are evaluated and pages leave in time',
    }),
  }),
  async handle(_input, { stores, now }) {
    const { unreadyBecause, rulesBehindBecause } = judgePager(await stores.pagerSigns.find(now), now);
    return { late: [...unreadyBecause, ...rulesBehindBecause] };
  },
});
