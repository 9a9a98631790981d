import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { StrictObject } from '#kernel/action.ts';
import type { Id } from '#kernel/ids.ts';
import { keysOf } from '#kernel/records.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { type Channel, CHANNELS, declarationOf, type Provider, PROVIDERS } from '#modules/contacts/decide/channel.ts';
import { CHANNEL_STATES, channelStateOf } from '#modules/contacts/decide/reachability.ts';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { judgePager } from '#modules/notifications/decide/pager_health.ts';
import { ChannelName } from '#modules/policies/view.ts';
import type { TeamRow } from '#modules/teams/store.ts';
import { readTeams, type WholeTeam } from '#modules/teams/view.ts';
import { readWarnings, WarningView } from '#modules/teams/warnings.ts';
import { UNREADABLE_KIND_NAMES, unreadableText } from '#modules/unreadable_rows/decide/unreadable_kinds.ts';

const DAYS_BACK = 30;
const WARNINGS_MAX = 20;
const TEAMS_AT_ONCE = 500;

const TeamWarningView = Type.Object({
  teamId: IdText,
  teamName: Type.String(),
  kind: WarningView.properties.kind,
  message: Type.String(),
  policyId: nullable(IdText),
  scheduleId: nullable(IdText),
});

export const getPagingProblems = defineOperation({
  name: 'get_paging_problems',
  summary: 'Show why pages might not arrive: channels that fail or are missing, and the warnings of all teams.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    withoutGaps: Type.Optional(Type.Boolean({ description: 'leave out the warnings of gaps in schedules' })),
  }),
  result: Type.Object({
    missing: Type.Array(ChannelName, {
      description: 'channels that escalation policies use but that are not set up on this server',
    }),
    simulated: Type.Array(ChannelName, {
      description: 'channels whose messages go to the phone simulator, because no Twilio account is configured',
    }),
    failing: Type.Array(
      Type.Object({
        channel: ChannelName,
        lastFailedAt: nullable(Timestamp),
        lastFailure: nullable(Type.String({ description: 'why it failed' })),
      }),
      { description: 'channels whose provider refused the last message or did not answer, and has taken none since' },
    ),
    warnings: Type.Array(TeamWarningView, { description: `at most ${WARNINGS_MAX}` }),
    warningCount: Type.Integer({ minimum: 0 }),
    unreadable: Type.Array(
      Type.Object({ kind: Type.Enum(UNREADABLE_KIND_NAMES), message: Type.String(), since: Timestamp }),
      { description: `stored rows that cannot be read and are left out alone, at most ${WARNINGS_MAX}` },
    ),
  }),
  example: { withoutGaps: true },
  async handle({ withoutGaps = false }, context) {
    const { caller, stores, now, configuredChannels, installation } = context;
    const { simulatedChannels, simulatedIds } = installation;
    const used = new Set<Channel>();
    const warnings: Static<typeof TeamWarningView>[] = [];
    let warningCount = 0;
    for await (const { team, policies, warnings: teamWarnings } of eachTeam(context)) {
      for (const channel of policies.flatMap(({ steps }) => steps.flatMap(({ channels }) => channels))) {
        used.add(channel);
      }
      const shownProblems = teamWarnings.filter(({ kind }) => !withoutGaps || kind !== 'schedule_gap');
      warningCount += shownProblems.length;
      for (const problem of shownProblems.slice(0, WARNINGS_MAX - warnings.length)) {
        const { kind, message, policyId = null, scheduleId = null } = problem;
        warnings.push({ teamId: team.id, teamName: team.name, kind, message, policyId, scheduleId });
      }
    }
    const unreadable = await stores.unreadableRows.list(caller.orgId, WARNINGS_MAX);
    const since = now.subtract({ hours: DAYS_BACK * 24 });
    const health = await stores.deliveries.listHealth(caller.orgId, since, simulatedIds);
    return {
      simulated: CHANNELS.filter((channel) => simulatedChannels.has(channel)),
      missing: CHANNELS.filter((channel) => used.has(channel) && !configuredChannels.has(channel)),
      failing: health
        .filter((entry) => {
          const { channel } = entry;
          const isConfigured = configuredChannels.has(channel);
          return channelStateOf({ isConfigured, isSimulated: simulatedChannels.has(channel) }, entry) === 'failing';
        })
        .map(({ channel, lastFailedAt, lastFailure }) => ({
          channel,
          lastFailedAt: toTimestampOrNull(lastFailedAt),
          lastFailure,
        })),
      warnings,
      warningCount,
      unreadable: unreadable.map((row) => ({
        kind: row.kind,
        message: unreadableText(row),
        since: toTimestamp(row.since),
      })),
    };
  },
});

/** Yields all teams, reading some at a time. */
async function* eachTeam(
  context: ActionContext,
): AsyncGenerator<WholeTeam & { readonly warnings: readonly Static<typeof WarningView>[] }> {
  const { caller, stores } = context;
  let after: Id<'team'> | null = null;
  do {
    const rows: TeamRow[] = await stores.teams.list(caller.orgId, TEAMS_AT_ONCE, after);
    const teams = await readTeams(rows, context);
    const warnings = await readWarnings(teams, context);
    for (const [index, team] of teams.entries()) yield { ...team, warnings: warnings[index] ?? [] };
    after = rows.length === TEAMS_AT_ONCE ? (rows.at(-1)?.id ?? null) : null;
  } while (after !== null);
}

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
