import { inSlices, type Steps } from '#kernel/cooperative_task.ts';
import { isAtLeast } from '#modules/exceptions/decide/triage.ts';
import { type ColumnCondition, conditionText } from '#modules/exceptions/decide/search_query.ts';
import { type Counted, countsInTurns } from '#modules/rules/decide/fair_turns.ts';
import type { ExceptionRule } from '#modules/rules/decide/rule_kinds.ts';
import { eventConditionsOf, isInTitle } from '#modules/rules/decide/replay_exceptions.ts';
import { type GroupRate, isOnRate, limitPassed } from '#modules/rules/decide/kind_settings.ts';
import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import { type RuleSettings, settingsOf } from '#modules/rules/decide/rule_settings.ts';
import type { Cause, Firing } from '#modules/incidents/paging/firing.ts';
import { divideRules, setAsideRule } from '#modules/rules/set_aside_rule.ts';
import { openIncidents } from '#modules/incidents/open_incidents.ts';
import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';
import type { GroupScope } from '#modules/exceptions/store/exception_counter.ts';
import type { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import type { ActiveRule } from '#modules/rules/store/active_rule_store.ts';
import type { GroupRateReader, RatedGroup } from '#modules/exceptions/store/group_rate_store.ts';
import { inUnitOfWork, type Stores, storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';

export interface RateRuntime extends UnitOfWorkRuntime {
  readonly exceptions: Pick<ExceptionReader, 'countByGroup'> & { readonly rates: Pick<GroupRateReader, 'listActive'> };
  readonly incidentLimit: IncidentLimit;
}

interface RateRule {
  readonly rule: ActiveRule;
  readonly settings: RuleSettings;
}

/** Rules times groups of one service that one run looks at; of more, groups with fewer events are left out. */
const PAIRS_OF_SERVICE_MAX = 20_000;

/** Counts that may fail before a run ends: one that fails keeps no other from being made. */
const FAILURES_MAX = 3;

/** Services whose groups one query looks for. */
const SERVICES_MAX = 200;

/**
 * Opens the incidents of rules on the rate of exceptions, for each group that is over a limit and has none open. What came
 * before the last one was resolved does not count again. Runs safely twice: of one key only one is open.
 */
export async function applyGroupRates(runtime: RateRuntime): Promise<void> {
  const stores = storesOf(runtime.db.session());
  const wanted = new Set(await stores.groupRates.listRuleIds());
  if (wanted.size === 0) return;
  const { readable, unreadable } = divideRules('exception', await stores.activeRules.list('exception'));
  const leftOut: unknown[] = [];
  for (const { ruleId } of unreadable) {
    const setAside = inUnitOfWork(runtime, (unit) =>
      setAsideRule(unit, { ruleId, kind: 'exception' }, runtime.incidentLimit),
    );
    await setAside.catch((error: unknown) => leftOut.push(error));
  }
  const rules = readable
    .filter(({ ruleId }) => wanted.has(ruleId))
    .map((rule) => ({ rule, settings: settingsOf(rule.settings) }))
    .filter(({ settings }) => isOnRate(settings));
  const counts = countsInTurns(rules, Math.random());
  const rulesOf = Map.groupBy(
    counts.flatMap(({ rules: alike }) => alike),
    ({ rule }) => rule.serviceId,
  );
  const failures: unknown[] = [];
  for (const { rules: alike, minutes, conditions } of counts) {
    const byService = [...Map.groupBy(alike, ({ rule }) => rule.serviceId)];
    for (let from = 0; from < byService.length; from += SERVICES_MAX) {
      const shares = byService.slice(from, from + SERVICES_MAX).map(([serviceId, ofService]): Share => {
        const groupsMax = Math.ceil(PAIRS_OF_SERVICE_MAX / (rulesOf.get(serviceId)?.length ?? 1));
        return { serviceId, rules: ofService, groupsMax };
      });
      await applyCount(runtime, shares, { minutes, conditions }).catch((error: unknown) => failures.push(error));
      if (failures.length >= FAILURES_MAX) throw failures[0];
    }
  }
  // A rule that could not even be set aside is left out, and keeps no other from being counted.
  const [failure] = [...failures, ...leftOut];
  if (failure !== undefined) throw failure;
}

/** Part of a service in a count. */
interface Share {
  readonly serviceId: Id<'service'>;
  readonly rules: readonly RateRule[];
  /** Limit on its groups: the counts of a run share the pairs of the service. */
  readonly groupsMax: number;
}

async function applyCount(
  runtime: RateRuntime,
  shares: readonly Share[],
  { minutes, conditions }: Counted,
): Promise<void> {
  const since = runtime.clock.now().subtract({ minutes });
  const serviceIds = shares.map(({ serviceId }) => serviceId);
  const active = await runtime.exceptions.rates.listActive(serviceIds, since, conditions);
  if (active.length === 0) return;
  const { groupRates, groupMerges } = storesOf(runtime.db.session());
  const places = new Map(active.map((id, place) => [id, place]));
  const takers = await groupRates.listTakers(active);
  const groups = await groupMerges.withMerged(
    takers.toSorted((a, b) => (places.get(a.id) ?? Infinity) - (places.get(b.id) ?? Infinity)),
  );
  const opened = await groupRates.findOpened(
    groups.map(({ id }) => id),
    shares.flatMap(({ rules }) => rules.map(({ rule }) => rule.ruleId)),
  );
  const asked = await inSlices(askedRates(groups, shares, opened, since));
  const scopes = new Map(
    asked.map(({ group, from }): [string, GroupScope] => {
      const { id: groupId, serviceId, mergedIds } = group;
      return [`${groupId} ${from.epochMilliseconds}`, { groupId, serviceId, mergedIds, keptSince: from }];
    }),
  );
  const counted = await countScopes(runtime, [...scopes.values()], conditions);
  const firings = asked.flatMap(({ rule, settings, group, from }): Firing[] => {
    const rate = counted.get(`${group.id} ${from.epochMilliseconds}`);
    const limit = rate === undefined ? null : limitPassed(settings, rate);
    if (rate === undefined || limit === null) return [];
    return [{ rule, cause: causeOf(group, rate, { limit, settings }) }];
  });
  if (firings.length === 0) return;
  await inUnitOfWork(runtime, (unit) => openIncidents(unit, firings, runtime.incidentLimit));
}

type MergedGroup = RatedGroup & Required<Pick<GroupScope, 'mergedIds'>>;

interface AskedRate extends RateRule {
  readonly group: MergedGroup;
  /** Time from which events count. */
  readonly from: Temporal.Instant;
}

type Opened = Awaited<ReturnType<Stores['groupRates']['findOpened']>>;

/**
 * Finds which rules have to know the rate of which groups, service by service: the work is that of each service's own
 * rules and groups, and only so many of them.
 */
function* askedRates(
  groups: readonly MergedGroup[],
  shares: readonly Share[],
  opened: Opened,
  since: Temporal.Instant,
): Steps<AskedRate[]> {
  const asked: AskedRate[] = [];
  const groupsOf = Map.groupBy(groups, ({ serviceId }) => serviceId);
  for (const { serviceId, rules, groupsMax } of shares) {
    for (const group of (groupsOf.get(serviceId) ?? []).slice(0, groupsMax)) {
      for (const { rule, settings } of rules) {
        const { isOpen = false, endedAt = null } = opened.get(`${rule.ruleId}.${group.id}`) ?? {};
        const concerns =
          isAtLeast(group.level, (rule.config as ExceptionRule).minSeverity) &&
          isInTitle(settings.withText, group.title);
        if (!isOpen && concerns) asked.push({ rule, settings, group, from: later(since, endedAt) });
      }
      yield;
    }
  }
  return asked;
}

function later(a: Temporal.Instant, b: Temporal.Instant | null): Temporal.Instant {
  return b === null || isAtOrBefore(b, a) ? a : b;
}

/**
 * Counts events by group and time: few groups have had an incident within the window, so one query counts nearly all.
 */
async function countScopes(
  { exceptions }: Pick<RateRuntime, 'exceptions'>,
  scopes: readonly GroupScope[],
  conditions: readonly ColumnCondition[],
): Promise<Map<string, GroupRate>> {
  const rates = new Map<string, GroupRate>();
  for (const [ms, alike] of Map.groupBy(scopes, ({ keptSince }) => keptSince.epochMilliseconds)) {
    for (const [groupId, rate] of await exceptions.countByGroup(alike, conditions)) rates.set(`${groupId} ${ms}`, rate);
  }
  return rates;
}

interface Passed {
  readonly limit: 'events' | 'users';
  readonly settings: RuleSettings;
}

function causeOf({ id, title, level }: RatedGroup, { events, users }: GroupRate, { limit, settings }: Passed): Cause {
  const { eventsOver, usersOver, rateMinutes } = settings;
  const groupId: Id<'group'> = id;
  const over = limit === 'events' ? `${events} events (> ${eventsOver})` : `${users} users (> ${usersOver})`;
  const only = eventConditionsOf(settings).map((condition) => conditionText(condition));
  return {
    kind: 'exception',
    exceptionGroupId: groupId,
    title,
    severity: settings.incidentSeverity ?? level,
    details: { groupId, outcome: 'rate', level, events, users, eventsOver, usersOver, rateMinutes },
    sentence: `${title} had ${[over, ...only].join(', ')} within ${rateMinutes} min`,
  };
}
