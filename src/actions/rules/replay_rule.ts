import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText, MetricName, nullable, Timestamp } from '#actions/fields.ts';
import { readHistory } from '#actions/rules/read_history.ts';
import { REPLAY_DAYS_MAX } from '#actions/rules/read_rule_history.ts';
import { RuleSettingsInput } from '#actions/rules/settings_fields.ts';
import { parseRuleSettings, settingsOf } from '#core/incidents/rule_settings.ts';
import { AGGREGATIONS } from '#core/metrics/aggregation.ts';
import { COMPARATORS } from '#core/metrics/comparator.ts';
import { WINDOW_MINUTES_MAX } from '#core/metrics/limits.ts';
import { type ReplayedIncident, replayRule as replay } from '#core/metrics/replay.ts';
import { selectorFaults } from '#core/metrics/selector.ts';
import { contactsOf } from '#core/oncall/contact.ts';
import { orThrow } from '#core/oncall/parsed.ts';
import { escalationCost } from '#core/oncall/escalation_cost.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds, toTimestamp } from '#kernel/time.ts';
import { rotationOf } from '#storage/postgres/schedule_store.ts';

/** Marks beyond these are not sent, and what more incidents would have cost is not computed. */
const INCIDENTS_MAX = 500;
const PEOPLE_MAX = 50;

const CostView = Type.Object({
  pages: Type.Integer({ description: 'messages that would have been sent' }),
  nights: Type.Integer({ description: 'nights, from 23:00 to 07:00, in which they would have woken somebody' }),
  people: Type.Array(
    Type.Object({
      userId: IdText,
      name: Type.String(),
      timeZone: Type.String({ description: 'of a schedule that they are in, UTC for somebody in none' }),
      pages: Type.Integer(),
      nights: Type.Integer(),
    }),
    { description: 'who is paged most first, at most 50' },
  ),
  peopleCount: Type.Integer(),
});

export const replayRule = defineAction({
  name: 'replay_rule',
  consoleOnly: true,
  summary:
    'Say which incidents a metric rule would have opened in the last days, had it been evaluated every minute, and what they would have cost the people whom a policy pages.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    {
      serviceId: IdText,
      metricName: MetricName,
      aggregation: Type.Enum([...AGGREGATIONS]),
      windowMinutes: Type.Integer({ minimum: 1, maximum: WINDOW_MINUTES_MAX }),
      comparator: Type.Enum([...COMPARATORS]),
      threshold: Type.Number(),
      escalationPolicyId: nullable(IdText),
      settings: Type.Optional(RuleSettingsInput),
      days: Type.Integer({ minimum: 1, maximum: REPLAY_DAYS_MAX }),
    },
    CLOSED,
  ),
  result: Type.Object({
    since: Timestamp,
    incidents: Type.Array(Type.Object({ openedAt: Timestamp, closedAt: nullable(Timestamp) }), {
      description: 'oldest first, at most 500',
    }),
    incidentCount: Type.Integer(),
    cost: nullable(CostView),
  }),
  meaning: ({ metricName }) => (typeof metricName === 'string' ? selectorFaults(metricName) : []),
  example: {
    serviceId: EXAMPLE_IDS.serviceId,
    metricName: 'http_request_duration_ms{route="/pay"}',
    aggregation: 'avg',
    windowMinutes: 5,
    comparator: '>',
    threshold: 800,
    escalationPolicyId: EXAMPLE_IDS.policyId,
    settings: { forMinutes: 5 },
    days: 7,
  },
  async handle({ serviceId, escalationPolicyId, comparator, threshold, settings, ...wanted }, context) {
    const config = { ...wanted, comparator, threshold };
    const parsed = parseRuleSettings({ kind: 'metric_threshold', config }, settings ?? {}, 'settings');
    const service = await context.stores.services.get(context.caller.orgId, serviceId);
    const history = await readHistory(service, wanted, context);
    const incidents = replay({ ...config, settings: settingsOf(orThrow(parsed)) }, history);
    const shown = incidents.slice(0, INCIDENTS_MAX);
    const timestamp = (ms: number) => toTimestamp(fromEpochMilliseconds(ms));
    return {
      since: timestamp(history.firstMs),
      incidents: shown.map(({ openedAt, closedAt }) => ({
        openedAt: timestamp(openedAt),
        closedAt: closedAt === null ? null : timestamp(closedAt),
      })),
      incidentCount: incidents.length,
      cost: escalationPolicyId === null ? null : await readCost(escalationPolicyId, shown, context),
    };
  },
});

/** With the policy, the contacts and the rotations of today. */
async function readCost(
  policyId: string,
  incidents: readonly ReplayedIncident[],
  { caller: { orgId }, stores, configuredChannels, now }: ActionContext,
): Promise<Static<typeof CostView>> {
  const [policy] = await stores.ruleSearch.listPolicies(orgId, [asId('policy', policyId)]);
  if (policy === undefined) throw notFound('escalationPolicyId', 'escalation policy');
  const { schedules, people } = await stores.onCall.ofTeam(orgId, policy.teamId, now);
  const userIds = [...people.values(), ...policy.steps.flatMap(({ targetUserIds }) => targetUserIds)].map((one) =>
    typeof one === 'string' ? one : one.userId,
  );
  const known = await stores.people.listReachable(orgId, userIds);
  const subscribers = await stores.pushSubscriptions.listSubscribers(userIds);
  const members = await stores.teams.listMembers(orgId, [policy.teamId]);
  const zoneOf = (userId: Id<'user'>): string => {
    const own = schedules.find(({ schedule }) => schedule.rotationConfig.userIds.includes(userId)) ?? schedules[0];
    return own?.schedule.timezone ?? 'UTC';
  };
  const {
    pages,
    nights,
    people: paged,
  } = escalationCost(
    {
      steps: policy.steps,
      schedules: schedules.map(({ schedule, overrides }) => ({ rotation: rotationOf(schedule), overrides })),
      contacts: contactsOf([...known.values()], subscribers, members),
      configured: configuredChannels,
      isPresent: (userId: string) => known.has(userId),
    },
    incidents,
    zoneOf,
    now.epochMilliseconds,
  );
  return {
    pages,
    nights,
    people: paged.slice(0, PEOPLE_MAX).map((person) => ({
      ...person,
      name: known.get(person.userId)?.name ?? '',
      timeZone: zoneOf(person.userId),
    })),
    peopleCount: paged.length,
  };
}
