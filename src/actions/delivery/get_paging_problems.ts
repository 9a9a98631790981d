import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { CLOSED, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { ChannelName } from '#actions/policies/view.ts';
import { readTeams } from '#actions/teams/read_teams.ts';
import { readWarnings } from '#actions/teams/warnings.ts';
import { CHANNELS } from '#core/oncall/channel.ts';
import { channelStateOf } from '#core/oncall/channel_state.ts';
import { toTimestampOrNull } from '#kernel/time.ts';

const DAYS_BACK = 30;
const WARNINGS_MAX = 20;

export const getPagingProblems = defineAction({
  name: 'get_paging_problems',
  consoleOnly: true,
  summary: 'Show why pages might not arrive: channels that fail or are missing, and the warnings of all teams.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    {
      withoutGaps: Type.Optional(Type.Boolean({ description: 'leave out the warnings of gaps in schedules' })),
    },
    CLOSED,
  ),
  result: Type.Object({
    missing: Type.Array(ChannelName, {
      description: 'channels that escalation policies use but that are not set up on this server',
    }),
    failing: Type.Array(
      Type.Object({
        channel: ChannelName,
        lastFailedAt: nullable(Timestamp),
        lastFailure: nullable(Type.String({ description: 'why it failed' })),
      }),
      { description: 'channels whose provider refused the last message or did not answer, and has taken none since' },
    ),
    warnings: Type.Array(
      Type.Object({
        teamId: IdText,
        teamName: Type.String(),
        message: Type.String(),
        policyId: nullable(IdText),
      }),
      { description: `at most ${WARNINGS_MAX}` },
    ),
    warningCount: Type.Integer({ minimum: 0 }),
  }),
  example: { withoutGaps: true },
  async handle({ withoutGaps = false }, context) {
    const { caller, stores, now, configuredChannels } = context;
    const teams = await readTeams(await stores.teams.list(caller.orgId, LIST_LIMIT), context);
    const found = await readWarnings(teams, context);
    const warnings = teams.flatMap(({ team }, index) =>
      (found[index] ?? [])
        .filter(({ kind }) => !withoutGaps || kind !== 'schedule_gap')
        .map(({ message, policyId = null }) => ({ teamId: team.id, teamName: team.name, message, policyId })),
    );
    const used = new Set(
      teams.flatMap(({ policies }) => policies.flatMap(({ steps }) => steps.flatMap(({ channels }) => channels))),
    );
    const health = await stores.deliveries.listHealth(caller.orgId, now.subtract({ hours: DAYS_BACK * 24 }));
    return {
      missing: CHANNELS.filter((channel) => used.has(channel) && !configuredChannels.has(channel)),
      failing: health
        .filter((entry) => channelStateOf(configuredChannels.has(entry.channel), entry) === 'failing')
        .map(({ channel, lastFailedAt, lastFailure }) => ({
          channel,
          lastFailedAt: toTimestampOrNull(lastFailedAt),
          lastFailure,
        })),
      warnings: warnings.slice(0, WARNINGS_MAX),
      warningCount: warnings.length,
    };
  },
});
