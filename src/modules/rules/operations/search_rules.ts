import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { idsInput, pageInput, pageOf, searchInput } from '#actions/list_page.ts';
import { invalidInput, isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { readExpression } from '#modules/metrics/decide/expression.ts';
import { quantileQuestionOf, type SingleValueKind } from '#modules/metrics/decide/quantile.ts';
import { simulateEscalation } from '#modules/policies/decide/simulate_escalation.ts';
import { readPolicySettings } from '#modules/policies/read_run.ts';
import { isBehind } from '#modules/rules/decide/breach.ts';
import { metricOf, RULE_KIND_NAMES, RULE_KINDS, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { RULE_STATES, type RuleState } from '#modules/rules/decide/rule_kind.ts';
import { expectedSeverity } from '#modules/rules/decide/rule_settings.ts';
import { findUnmetSelectors } from '#modules/rules/missing_metric.ts';
import type { PolicyOfTeam, RulePlace, WatchingRule } from '#modules/rules/store/rule_search.ts';
import { RuleKindName, RuleSettingsView, RuleStateView, shownSettings, toRuleView } from '#modules/rules/view.ts';
import { OWNED_BY, readOwningTeams } from '#modules/teams/view.ts';
import { storePoints } from '#storage/queue/jobs.ts';

const PEOPLE_SHOWN_MAX = 20;

const PagedNowView = Type.Object({
  policyId: IdText,
  policyName: Type.String(),
  teamId: IdText,
  teamName: Type.String(),
  people: Type.Array(
    Type.Object({
      userId: IdText,
      name: Type.String(),
      afterMinutes: Type.Number({ description: 'after the trigger, of the first step that reaches them' }),
    }),
    { description: 'whom an incident would page that triggered now and that nobody answered; at most 20' },
  ),
  peopleCount: Type.Integer(),
});

type PagedNow = Static<typeof PagedNowView>;

/** Returns whom a policy would page now for an incident of this severity; null for a policy that nobody asked for. */
type PagedNowOf = (policyId: Id<'policy'>, severity: string) => PagedNow | null;

/** Reads whom each of these policies would page now, in a few queries, however many there are. */
async function readPagedNow(policyIds: readonly Id<'policy'>[], context: ActionContext): Promise<PagedNowOf> {
  if (policyIds.length === 0) return () => null;
  const { caller, stores, now } = context;
  const policies = await stores.ruleSearch.listPolicies(caller.orgId, policyIds);
  const settings = await readPolicySettings(policies, now, context);
  const { people } = settings;
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  const answers = new Map<string, PagedNow | null>();
  return (policyId, severity) => {
    const key = `${policyId} ${severity}`;
    const policy = byId.get(policyId);
    const answer = answers.get(key) ?? (policy === undefined ? null : toPagedNow(policy, reachedBy(policy, severity)));
    answers.set(key, answer);
    return answer;
  };

  function reachedBy(policy: PolicyOfTeam, severity: string): Map<Id<'user'>, number> {
    const reached = new Map<Id<'user'>, number>();
    for (const { step, pages } of simulateEscalation(settings.settingOf(policy, severity), now)) {
      for (const { kind, userId } of pages) {
        if (kind === 'notify' && !reached.has(userId)) reached.set(userId, step.afterMinutes);
      }
    }
    return reached;
  }

  function toPagedNow(policy: PolicyOfTeam, reached: ReadonlyMap<Id<'user'>, number>): PagedNow {
    return {
      policyId: policy.id,
      policyName: policy.name,
      teamId: policy.teamId,
      teamName: policy.teamName,
      people: [...reached]
        .slice(0, PEOPLE_SHOWN_MAX)
        .map(([userId, afterMinutes]) => ({ userId, name: people.get(userId)?.name ?? '', afterMinutes })),
      peopleCount: reached.size,
    };
  }
}

/** Reason why a rule can neither fire nor resolve now. */
type Waiting =
  /** Points of its service wait to be stored. */
  | { readonly kind: 'behind'; readonly since: Temporal.Instant }
  /** Metric of which no point has arrived within the retention. */
  | { readonly kind: 'never_arrived'; readonly metricName: string }
  /** The rule asks for a quantile of a metric that is sent as single values. */
  | { readonly kind: 'no_quantiles'; readonly metricName: string; readonly of: SingleValueKind };

const OF_METRICS: readonly RuleKind[] = RULE_KIND_NAMES.filter((kind) => RULE_KINDS[kind].ingests === 'points');

/** Finds the enabled rules of the organization that wait for data; those without any data only if the store answers. */
async function findWaitingRules({
  caller,
  stores,
  metrics,
  now,
}: ActionContext): Promise<ReadonlyMap<Id<'rule'>, Waiting>> {
  const rules = await stores.ruleSearch.listWatching(caller.orgId, OF_METRICS);
  if (rules.length === 0) return new Map();
  const since = await stores.durableJobs.listWaiting(storePoints.name);
  const named = rules.flatMap((rule) => {
    const metric = metricOf(rule);
    if (metric === null) return [];
    return readExpression(metric).sides.map((selector) => {
      const buckets = quantileQuestionOf(selector)?.buckets.name ?? null;
      return { rule, serviceId: rule.serviceId, metricName: selector.name, buckets };
    });
  });
  const sources = named.flatMap(({ serviceId, metricName, buckets }) =>
    [metricName, ...(buckets === null ? [] : [buckets])].map((name) => ({ serviceId, metricName: name })),
  );
  const answers = await Promise.all([metrics.findLastArrivals(sources), withoutQuantiles(metrics, named)]).catch(
    (error: unknown) => {
      if (isUnavailable(error)) return null;
      throw error;
    },
  );
  return new Map(
    named.flatMap(({ rule, serviceId, metricName, buckets }): (readonly [Id<'rule'>, Waiting])[] => {
      const waitingSince = since.get(serviceId) ?? null;
      if (waitingSince !== null && isRuleBehind(rule, waitingSince, now)) {
        return [[rule.id, { kind: 'behind', since: waitingSince }]];
      }
      // The points that wait to be stored may be of that metric.
      if (answers === null || waitingSince !== null) return [];
      const [arrived, without] = answers;
      const keptMs = now.epochMilliseconds - rule.retentionDays * 86_400_000;
      const isThere = (name: string): boolean => (arrived.get(`${serviceId} ${name}`) ?? 0) >= keptMs;
      const of = buckets === null ? undefined : without.get(serviceId)?.get(metricName);
      if (of !== undefined && isThere(metricName)) return [[rule.id, { kind: 'no_quantiles', metricName, of }]];
      if (isThere(metricName) || (buckets !== null && isThere(buckets))) return [];
      return [[rule.id, { kind: 'never_arrived', metricName }]];
    }),
  );
}

interface NamedMetric {
  readonly serviceId: Id<'service'>;
  readonly metricName: string;
  readonly buckets: string | null;
}

/** Returns the metrics whose quantiles are asked for and that have none, by service. */
async function withoutQuantiles(
  { catalog }: ActionContext['metrics'],
  named: readonly NamedMetric[],
): Promise<ReadonlyMap<Id<'service'>, ReadonlyMap<string, SingleValueKind>>> {
  return await catalog.findAllWithoutQuantiles(named.filter(({ buckets }) => buckets !== null));
}

function isRuleBehind({ config }: WatchingRule, waitingSince: Temporal.Instant, now: Temporal.Instant): boolean {
  return 'windowMinutes' in config && isBehind(config.windowMinutes, waitingSince, now);
}

const LIMIT = 50;
const LIMIT_MAX = 200;
const RECENT_DAYS = 7;

const FoundRuleView = Type.Object({
  ...RuleStateView.properties,
  settings: RuleSettingsView,
  serviceName: Type.String(),
  state: Type.Enum([...RULE_STATES]),
  lastFiredAt: nullable(Timestamp),
  firedCount: Type.Integer({ description: `incidents that it opened in the last ${RECENT_DAYS} days` }),
  openIncidentId: nullable(Type.String({ description: 'the newest of its incidents that are not resolved' })),
  openCount: Type.Integer(),
  pages: nullable(PagedNowView),
});

type FoundRule = Static<typeof FoundRuleView>;

/** Lists rules for their page with paging, or one rule of it, so that each can be reached. */
export const searchRules = defineOperation({
  name: 'search_rules',
  summary: 'Find alert rules page by page: breached ones first, then those that wait for data, then by name.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    serviceId: Type.Optional(IdText),
    kind: Type.Optional(RuleKindName),
    ownedBy: OWNED_BY,
    state: Type.Optional(Type.Enum([...RULE_STATES])),
    text: searchInput('part of the name, the name of the service or the metric'),
    ruleIds: idsInput(LIMIT_MAX),
    incidentIds: Type.Optional(
      Type.Array(IdText, { maxItems: LIMIT_MAX, description: 'only rules that opened one of these' }),
    ),
    ...pageInput(LIMIT, LIMIT_MAX),
  }),
  result: Type.Object({
    rules: Type.Array(FoundRuleView),
    nextCursor: nullable(Type.String()),
    counts: Type.Object(
      { breached: Type.Integer(), waiting_for_data: Type.Integer(), ok: Type.Integer(), disabled: Type.Integer() },
      { description: 'how many there are of each state, of those that match otherwise, whichever ids are asked for' },
    ),
  }),
  example: {
    serviceId: EXAMPLE_IDS.serviceId,
    kind: 'metric_threshold',
    ownedBy: EXAMPLE_IDS.teamId,
    state: 'ok',
    text: 'slow',
    ruleIds: ['rule_01kdwm4a1b2c3d4e5f6g7h8j9m'],
    incidentIds: ['incident_01kdwm4a1b2c3d4e5f6g7h8j9m'],
    cursor: cursorOf({ state: 'ok', name: 'Checkout is slow', id: EXAMPLE_IDS.ruleId }),
    limit: 20,
  },
  async handle({ cursor, limit = LIMIT, text, ownedBy, ...filter }, context) {
    const { caller, stores } = context;
    if (filter.serviceId !== undefined) await stores.services.get(caller.orgId, filter.serviceId);
    const ownedByTeams = await readOwningTeams(ownedBy, context);
    const wanted = { ...filter, ownedByTeams, text: text?.trim() === '' ? undefined : text?.trim() };
    const after = cursor === undefined ? null : parseCursor(cursor);
    const waiting = await findWaitingRules(context);
    const waitingIds = [...waiting.keys()];
    const places = await stores.ruleSearch.listPlaces(caller.orgId, wanted, waitingIds, { after, limit: limit + 1 });
    const { shown, nextCursor } = pageOf(places, limit, cursorOf);
    return {
      rules: await readViews(shown, waiting, context),
      nextCursor,
      counts: await stores.ruleSearch.countByState(
        caller.orgId,
        { ...wanted, ruleIds: undefined, incidentIds: undefined },
        waitingIds,
      ),
    };
  },
});

async function readViews(
  places: readonly RulePlace[],
  waiting: ReadonlyMap<Id<'rule'>, Waiting>,
  context: ActionContext,
): Promise<FoundRule[]> {
  const { caller, stores, now } = context;
  const rows = await stores.ruleSearch.findAll(
    caller.orgId,
    places.map(({ id }) => id),
  );
  const rules = places.flatMap(({ id, state }) => {
    const rule = rows.get(id);
    return rule === undefined ? [] : [{ rule, state }];
  });
  const serviceIds = [...new Set(rules.map(({ rule }) => rule.serviceId))];
  const services = await stores.services.search(
    caller.orgId,
    { text: undefined, serviceIds },
    { after: null, limit: serviceIds.length },
  );
  const serviceOf = new Map(services.map((service) => [service.id, service]));
  const activity = await stores.ruleSearch.listActivity(
    rules.map(({ rule }) => rule.id),
    now.subtract({ hours: 24 * RECENT_DAYS }),
  );
  const unmet = await findUnmetSelectors(
    context,
    rules.flatMap(({ rule }) => {
      const metricName = metricOf(rule);
      const retention = serviceOf.get(rule.serviceId)?.retentionMetrics;
      if (metricName === null || retention === undefined || !rule.enabled || waiting.has(rule.id)) return [];
      return [{ id: rule.id, serviceId: rule.serviceId, metricName, since: now.subtract({ hours: 24 * retention }) }];
    }),
  );
  const policyIds = [...new Set(rules.flatMap(({ rule }) => rule.escalationPolicyId ?? []))];
  const pagedNow = await readPagedNow(policyIds, context);
  return rules.flatMap(({ rule, state }): FoundRule[] => {
    const service = serviceOf.get(rule.serviceId);
    if (service === undefined) return [];
    const done = activity.get(rule.id);
    const why = waiting.get(rule.id);
    return [
      {
        ...toRuleView(rule, service),
        settings: shownSettings(rule),
        waitingForData:
          why?.kind === 'behind'
            ? { since: toTimestamp(why.since), behindSeconds: Math.round(now.since(why.since).total('seconds')) }
            : null,
        missingMetric: missingOf(why) ?? unmet.get(rule.id) ?? null,
        serviceName: service.name,
        state,
        lastFiredAt: toTimestampOrNull(done?.lastFiredAt ?? null),
        firedCount: done?.firedCount ?? 0,
        openIncidentId: done?.openIncidentId ?? null,
        openCount: done?.openCount ?? 0,
        pages: rule.escalationPolicyId === null ? null : pagedNow(rule.escalationPolicyId, expectedSeverity(rule)),
      },
    ];
  });
}

function missingOf(why: Waiting | undefined): FoundRule['missingMetric'] {
  if (why === undefined || why.kind === 'behind') return null;
  const noQuantiles = why.kind === 'no_quantiles' ? { metricName: why.metricName, kind: why.of } : null;
  return { metricName: why.metricName, nearestNames: [], noQuantiles };
}

function cursorOf({ state, name, id }: RulePlace): string {
  return Buffer.from(`${state} ${id} ${name}`).toString('base64url');
}

function parseCursor(cursor: string): RulePlace {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, named, id, name] = /^([a-z_]+) (rule_\w{26}) (.*)$/s.exec(text) ?? [];
  const state: RuleState | undefined = RULE_STATES.find((candidate) => candidate === named);
  if (state === undefined || id === undefined || name === undefined || name.includes('\0')) {
    throw invalidInput([{ path: 'cursor', message: 'must be the nextCursor of the page before' }]);
  }
  return { state, name, id };
}
