import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, MetricName, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { inSlices } from '#kernel/cooperative_task.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal, toTimestamp } from '#kernel/time.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { type PagingRun, type ReplayedOpening, replayPagingInSteps } from '#modules/incidents/decide/replay_paging.ts';
import { labelsOf } from '#modules/maintenance/decide/maintenance.ts';
import { AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import { expressionFaults } from '#modules/metrics/decide/selector.ts';
import { escalationCost } from '#modules/policies/decide/simulate_escalation.ts';
import { readPolicySettings } from '#modules/policies/read_run.ts';
import type { JudgedRule } from '#modules/rules/decide/breach.ts';
import { COMPARATORS, isOnRate } from '#modules/rules/decide/kind_settings.ts';
import {
  replayByLabelInSteps,
  type ReplayedIncident,
  type ReplayedPart,
  replayRuleInSteps,
} from '#modules/rules/decide/replay.ts';
import {
  GROUP_MINUTES_MAX,
  parseRuleSettings,
  type RuleSettings,
  settingsOf,
} from '#modules/rules/decide/rule_settings.ts';
import { readHistory, REPLAY_DAYS_MAX } from '#modules/rules/operations/read_rule_history.ts';
import type { PolicyOfTeam } from '#modules/rules/store/rule_search.ts';
import { RuleSettingsInput } from '#modules/rules/view.ts';
import { namesPerson } from '#modules/schedules/decide/layered_shifts.ts';
import { type Level, LEVELS } from '#modules/exceptions/decide/level.ts';
import { isAtLeast } from '#modules/exceptions/decide/triage.ts';
import { eventConditionsOf, isInTitle, replayExceptions } from '#modules/rules/decide/replay_exceptions.ts';

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

async function readPolicy(
  policyId: string,
  { caller: { orgId }, stores }: Pick<ActionContext, 'caller' | 'stores'>,
): Promise<PolicyOfTeam> {
  const [policy] = await stores.ruleSearch.listPolicies(orgId, [asId('policy', policyId)]);
  if (policy === undefined) throw notFound('escalationPolicyId', 'escalation policy');
  return policy;
}

type CostOf = (runs: readonly PagingRun[]) => Promise<Static<typeof CostView>>;

/** Computes the cost of paging for people, with the policy, the contacts and the rotations of today. */
async function readCostOf(policy: PolicyOfTeam, severity: string, context: ActionContext): Promise<CostOf> {
  const { now } = context;
  const settings = await readPolicySettings([policy], now, context);
  const { people: settingsPeople } = settings;
  const { schedules } = settings.teamOf(policy.teamId);
  const zoneOf = (userId: Id<'user'>): string => {
    const shown = schedules.find(({ layered }) => namesPerson(layered, userId)) ?? schedules[0];
    return shown?.schedule.timezone ?? 'UTC';
  };
  const setting = settings.settingOf(policy, severity);
  return async (runs) => {
    const lives = runs.map(({ from, until }) => ({
      openedAt: from.epochMilliseconds,
      closedAt: until && until.epochMilliseconds,
    }));
    const {
      pages,
      nights,
      people: paged,
    } = await inSlices(escalationCost(setting, lives, zoneOf, now.epochMilliseconds));
    return {
      pages,
      nights,
      people: paged
        .slice(0, PEOPLE_MAX)
        .map((person) => ({
          ...person,
          name: settingsPeople.get(person.userId)?.name ?? '',
          timeZone: zoneOf(person.userId),
        })),
      peopleCount: paged.length,
    };
  };
}

/** Limit on the incidents: further marks are not sent, and the cost of further incidents is not computed. */
const INCIDENTS_MAX = 500;
/** Limit on the other incidents of the service that may have paged for one; the newest are read. */
const OTHERS_MAX = 2_000;
/** Minutes after which an incident is acknowledged by somebody who then forgets it. */
const ACKNOWLEDGED_AFTER_MINUTES = 5;

export const replayRule = defineOperation({
  name: 'replay_rule',
  summary:
    'Say which incidents a metric rule would have opened in the last days, had it been evaluated every minute, which of them would have waited for a maintenance or joined another incident, and what they would have cost the people whom a policy pages.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    serviceId: IdText,
    ruleId: Type.Optional(Type.String({ description: 'the rule that is replayed, if it is there already' })),
    metricName: MetricName,
    aggregation: Type.Enum([...AGGREGATIONS]),
    windowMinutes: Type.Integer({ minimum: 1, maximum: WINDOW_MINUTES_MAX }),
    comparator: Type.Enum([...COMPARATORS]),
    threshold: Type.Number(),
    escalationPolicyId: nullable(IdText),
    settings: Type.Optional(RuleSettingsInput),
    days: Type.Integer({ minimum: 1, maximum: REPLAY_DAYS_MAX }),
  }),
  result: Type.Object({
    since: Timestamp,
    incidents: Type.Array(
      Type.Object({
        openedAt: Timestamp,
        closedAt: nullable(Timestamp),
        paging: Type.Enum(['at_once', 'quiet', 'with_parent'], {
          description: 'quiet: it waited for the end of a maintenance; with_parent: another incident paged for it',
        }),
        pagedAt: nullable(
          Type.String({ format: 'date-time', description: 'when its steps began; null: it was over before' }),
        ),
        labelValue: Type.Optional(
          nullable(Type.String({ description: 'of a rule by label; null: values that have no incident of their own' })),
        ),
      }),
      { description: 'oldest first, at most 500' },
    ),
    incidentCount: Type.Integer(),
    quietCount: Type.Integer({ description: 'of those shown, opened during a maintenance' }),
    joinedCount: Type.Integer({ description: 'of those shown, opened with another incident that paged for both' }),
    cost: nullable(CostView),
    forgotten: nullable(
      Type.Object(
        { acknowledgedAfterMinutes: Type.Integer(), ...CostView.properties },
        { description: 'the cost had somebody acknowledged each page and forgotten it; null: it would not page again' },
      ),
    ),
  }),
  validate: ({ metricName }) => (typeof metricName === 'string' ? expressionFaults(metricName) : []),
  example: {
    ruleId: EXAMPLE_IDS.ruleId,
    metricName: 'http_request_duration_ms{route="/pay"}',
    aggregation: 'avg',
    windowMinutes: 5,
    comparator: '>',
    threshold: 800,
    escalationPolicyId: EXAMPLE_IDS.policyId,
    settings: { forMinutes: 5 },
    days: 7,
  },
  async handle({ serviceId, ruleId, escalationPolicyId, comparator, threshold, settings, ...wanted }, context) {
    const { stores, caller, now } = context;
    const config = { ...wanted, comparator, threshold };
    const parsed = unwrap(parseRuleSettings({ kind: 'metric_threshold', config }, settings ?? {}, 'settings'));
    const parsedSettings = settingsOf(parsed);
    const service = await stores.services.get(caller.orgId, serviceId);
    const rule = ruleId === undefined ? null : await stores.alertRules.get(caller.orgId, ruleId);
    const policy = escalationPolicyId === null ? null : await readPolicy(escalationPolicyId, context);
    const history = await readHistory(service, { ...wanted, comparator, settings: parsedSettings }, context);
    const incidents = await replay({ ...config, settings: parsedSettings }, history);
    const shown = incidents.slice(0, INCIDENTS_MAX);
    const labels = labelsOf({ kind: 'metric_threshold', config });
    const { byLabel } = parsedSettings;
    const openings = shown.map(({ openedAt, closedAt, labelValue = null }): ReplayedOpening => ({
      serviceId: service.id,
      ruleId: rule && rule.id,
      labels: byLabel === null || labelValue === null ? labels : { ...labels, [byLabel]: labelValue },
      escalationPolicyId: policy && policy.id,
      severity: parsedSettings.severity,
      groupMinutes: parsedSettings.groupMinutes,
      repageMinutes: parsedSettings.repageMinutes,
      steps: policy?.steps.length ?? 0,
      openedAt: fromEpochMilliseconds(openedAt),
      closedAt: closedAt === null ? null : fromEpochMilliseconds(closedAt),
    }));
    const setting = {
      windows: await stores.maintenance.list(caller.orgId),
      others: await readOthers(service.id, rule && rule.id, history.firstMs, context),
      acknowledgedAfterMinutes: null,
      now,
    };
    const paging = await inSlices(replayPagingInSteps(openings, setting));
    const costOf = policy === null ? null : await readCostOf(policy, parsedSettings.severity, context);
    const acknowledgedAfterMinutes = ACKNOWLEDGED_AFTER_MINUTES;
    const forgotten =
      parsedSettings.repageMinutes === null
        ? []
        : await inSlices(replayPagingInSteps(openings, { ...setting, acknowledgedAfterMinutes }));
    const timestamp = (ms: number) => toTimestamp(fromEpochMilliseconds(ms));
    return {
      since: timestamp(history.firstMs),
      incidents: shown.map(({ openedAt, closedAt, labelValue }, index) => {
        const begin = paging[index]?.runs[0]?.from;
        return {
          openedAt: timestamp(openedAt),
          closedAt: closedAt === null ? null : timestamp(closedAt),
          paging: paging[index]?.start.kind ?? 'at_once',
          pagedAt: begin === undefined ? null : toTimestamp(begin),
          ...(labelValue !== undefined && { labelValue }),
        };
      }),
      incidentCount: incidents.length,
      quietCount: paging.filter(({ start }) => start.kind === 'quiet').length,
      joinedCount: paging.filter(({ start }) => start.kind === 'with_parent').length,
      cost: costOf && (await costOf(paging.flatMap(({ runs }) => runs))),
      forgotten:
        costOf === null || parsedSettings.repageMinutes === null
          ? null
          : { acknowledgedAfterMinutes, ...(await costOf(forgotten.flatMap(({ runs }) => runs))) },
    };
  },
});

async function replay(
  rule: JudgedRule & { readonly settings: RuleSettings },
  { byValue, ...history }: Awaited<ReturnType<typeof readHistory>>,
): Promise<(ReplayedIncident & Partial<ReplayedPart>)[]> {
  const { byLabel } = rule.settings;
  if (byLabel === null || byValue === null) return await inSlices(replayRuleInSteps(rule, history));
  return await inSlices(replayByLabelInSteps(rule, byLabel, { ...history, byValue }));
}

/** Reads the other incidents of the service: they may have paged for what the rule would have opened. */
async function readOthers(
  serviceId: Id<'service'>,
  exceptRuleId: Id<'rule'> | null,
  firstMs: number,
  { stores, now }: ActionContext,
) {
  const from = fromEpochMilliseconds(firstMs).subtract({ minutes: GROUP_MINUTES_MAX });
  return await stores.suppression.listDuring(serviceId, { from, to: now, exceptRuleId }, OTHERS_MAX);
}

const DAYS_MAX = 30;
const GROUPS_MAX = 5_000;
const SHOWN_MAX = 20;

export const replayExceptionRule = defineOperation({
  name: 'replay_exception_rule',
  summary:
    'Say which incidents a rule on exceptions would have opened in the last days: one for each exception that began or came back after it was resolved, judged by its first stored event within them; on a rate, one each time that the rate of an exception that is not ignored now rose above the limit, until it had fallen to it again. Storms and limits on incidents would have made them fewer.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    serviceId: IdText,
    minSeverity: Type.Enum([...LEVELS]),
    settings: Type.Optional(RuleSettingsInput),
    days: Type.Integer({ minimum: 1, maximum: DAYS_MAX }),
  }),
  result: Type.Object({
    since: Timestamp,
    incidentCount: Type.Integer(),
    incidents: Type.Array(
      Type.Object({
        groupId: IdText,
        title: Type.String(),
        outcome: Type.Enum(['new', 'regression', 'rate']),
        severity: Type.Enum([...LEVELS]),
        at: Timestamp,
        events: Type.Optional(Type.Integer({ description: 'of a rate: events within rateMinutes' })),
        users: Type.Optional(nullable(Type.Integer({ description: 'of a rate with a limit on users' }))),
      }),
      { description: `the newest ${SHOWN_MAX}` },
    ),
    isCut: Type.Boolean({
      description: `whether there were more than ${GROUPS_MAX} exceptions to judge: the others are left out`,
    }),
  }),
  example: { minSeverity: 'error', settings: { inEnvironment: 'prod*', withTag: 'customer:acme' }, days: 14 },
  async handle({ serviceId, minSeverity, settings, days }, context) {
    const { caller, stores, exceptions, now } = context;
    const config = { minSeverity };
    const complete = settingsOf(unwrap(parseRuleSettings({ kind: 'exception', config }, settings ?? {}, 'settings')));
    const service = await stores.services.get(caller.orgId, serviceId);
    const since = now.subtract({ hours: 24 * Math.min(days, service.retentionExceptions) });
    if (isOnRate(complete)) {
      return await replayRates({ serviceId: service.id, minSeverity, settings: complete, since }, context);
    }
    const [groups, firstEvents] = await Promise.all([
      stores.groupReleases.listBegunOrBack(service.id, since, GROUPS_MAX + 1),
      exceptions.lists.listFirst(service.id, since, GROUPS_MAX),
    ]);
    const incidents = replayExceptions({ minSeverity, settings: complete }, groups.slice(0, GROUPS_MAX), firstEvents);
    return {
      since: toTimestamp(since),
      incidentCount: incidents.length,
      incidents: incidents.slice(0, SHOWN_MAX).map(({ at, ...incident }) => ({ ...incident, at: toTimestamp(at) })),
      isCut: groups.length > GROUPS_MAX,
    };
  },
});

interface RateReplay {
  readonly serviceId: Id<'service'>;
  readonly minSeverity: Level;
  readonly settings: RuleSettings;
  readonly since: Temporal.Instant;
}

/** Replays a rule on a rate over the groups that were seen last, with their titles and levels of today. */
async function replayRates(
  { serviceId, minSeverity, settings, since }: RateReplay,
  { stores, exceptions }: Pick<ActionContext, 'stores' | 'exceptions'>,
) {
  const seen = await stores.groupRates.listSeen(serviceId, since, GROUPS_MAX + 1);
  const judged = seen
    .slice(0, GROUPS_MAX)
    .filter(({ level, title }) => isAtLeast(level, minSeverity) && isInTitle(settings.withText, title));
  const groups = await stores.groupMerges.withMerged(judged);
  const scopes = groups.map(({ id: groupId, mergedIds }) => ({ serviceId, groupId, mergedIds, keptSince: since }));
  const rises = await exceptions.rates.listRises(scopes, settings, eventConditionsOf(settings), SHOWN_MAX);
  const incidents = groups.flatMap(({ id: groupId, title, level }) =>
    (rises.get(groupId)?.newest ?? []).map((rise) => {
      return { groupId, title, outcome: 'rate' as const, severity: settings.incidentSeverity ?? level, ...rise };
    }),
  );
  return {
    since: toTimestamp(since),
    incidentCount: [...rises.values()].reduce((sum, { total }) => sum + total, 0),
    incidents: incidents
      .toSorted((a, b) => b.at.epochMilliseconds - a.at.epochMilliseconds)
      .slice(0, SHOWN_MAX)
      .map(({ at, ...incident }) => ({ ...incident, at: toTimestamp(at) })),
    isCut: seen.length > GROUPS_MAX,
  };
}
