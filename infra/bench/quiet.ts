import { type MaintenanceTarget, type MaintenanceTimes } from '#modules/maintenance/decide/maintenance.ts';
import { type ReplayedOpening, type ReplayedPaging, replayPaging } from '#modules/incidents/decide/replay_paging.ts';
import { RULE_DEFAULTS, type RuleSettings } from '#modules/rules/decide/rule_settings.ts';
import { replayRule } from '#modules/rules/decide/replay.ts';
import type { Contact } from '#modules/contacts/decide/contact.ts';
import { type EscalationSetting, simulateEscalation } from '#modules/policies/decide/simulate_escalation.ts';
import { nightFinder } from '#modules/schedules/decide/layered_shifts.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';

import { count, duration, ratio } from './figures.ts';
import { type Bench, printInputs, printTable } from './harness.ts';
import { DAYS, MINUTES, monthOf, type MonthRule, type Outage, OUTAGES, SERVICES, START } from './quiet/month.ts';

const SEED = 20_270_201;
const MINUTE_MS = 60_000;
const ZONE = 'Europe/Amsterdam';
/** Whoever is paged acknowledges so long after, and works on it or forgets it. */
const ACKNOWLEDGED_AFTER_MINUTES = 5;

const [first, second] = [asId('user', 'user_first'), asId('user', 'user_second')];

const contactOf = (userId: Id<'user'>): Contact => ({
  userId,
  phone: '+31612345678',
  email: null,
  hasPush: false,
  smsEnabled: true,
  callEnabled: true,
  pushEnabled: true,
  emailEnabled: true,
});

/** A text message at once, a call to somebody else after a quarter of an hour. */
const SETTING: EscalationSetting = {
  steps: [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [first], useSchedule: false },
    { afterMinutes: 15, channels: ['call'], targetUserIds: [second], useSchedule: false },
  ],
  schedules: [],
  contacts: new Map([first, second].map((userId) => [userId, contactOf(userId)])),
  configured: new Set(['sms', 'call']),
  isPresent: () => true,
};

type Window = MaintenanceTimes & MaintenanceTarget;

/** The batches of the night: their queue is in maintenance from 01:55 for two hours. */
const BATCHES: Window = {
  serviceId: null,
  ruleId: null,
  labelName: 'queue',
  labelValue: 'batch',
  startsAt: fromEpochMilliseconds(START),
  endsAt: null,
  recurrence: { weekdays: [1, 2, 3, 4, 5, 6, 7], startTime: '01:55', minutes: 120 },
  timezone: 'UTC',
};

interface Page {
  readonly service: number;
  readonly atMs: number;
}

interface Outcome {
  readonly incidents: number;
  readonly waited: number;
  readonly joined: number;
  readonly pages: readonly Page[];
}

export const quiet: Bench = {
  name: 'quiet',
  about:
    'a month of made data replayed through the decisions of the engine, with and without what makes rules quieter: incidents, pages, pages at night, and whether a real outage lost its page',
  run: async () => {
    const rules = monthOf(SEED);
    printInputs({
      data: `${DAYS} days, ${SERVICES} services, ${rules.length} rules, evaluated every minute; seed ${SEED}`,
      people: `who is paged acknowledges after ${ACKNOWLEDGED_AFTER_MINUTES} min; an escalation of an SMS at once and a call after 15 min`,
      quieter:
        'for 3 to 5 min, a recovery threshold, flapping from 3 incidents in 12 h, grouping within 2 min, stale after 30 min, maintenance of nightly batches',
    });
    const before = outcomeOf(rules, () => RULE_DEFAULTS, []);
    const after = outcomeOf(rules, ({ settings }) => ({ ...RULE_DEFAULTS, ...settings }), [BATCHES]);
    printTable([
      rowOf('incidents', before.incidents, after.incidents),
      rowOf('of these, opened in maintenance', before.waited, after.waited),
      rowOf('of these, joined another', before.joined, after.joined),
      rowOf('pages', before.pages.length, after.pages.length),
      rowOf('pages at night (23:00 to 07:00)', atNight(before.pages).pages, atNight(after.pages).pages),
      rowOf('nights disturbed', atNight(before.pages).nights, atNight(after.pages).nights),
      rowOf('pages while nothing was broken', idlePages(before.pages), idlePages(after.pages)),
    ]);
    printTable(OUTAGES.map((outage) => outageRow(outage, before.pages, after.pages)));
    const lost = OUTAGES.filter((outage) => pagesOf(outage, after.pages).length === 0);
    if (lost.length > 0) throw new Error(`no page about: ${lost.map(({ name }) => name).join(', ')}`);
  },
};

function rowOf(what: string, before: number, after: number) {
  return { month: what, without: count(before), with: count(after), ratio: ratio(after, before) };
}

function outageRow(outage: Outage, before: readonly Page[], after: readonly Page[]) {
  const [old, now] = [pagesOf(outage, before), pagesOf(outage, after)];
  const firstAfter = (pages: readonly Page[]): string =>
    pages[0] === undefined ? 'never' : duration(pages[0].atMs - msOf(outage.from));
  return {
    outage: outage.name,
    lasted: `${outage.to - outage.from} min`,
    'pages without': old.length,
    'first after': firstAfter(old),
    'pages with': now.length,
    'first with': firstAfter(now),
    'longest silence with': duration(longestSilence(outage, now)),
  };
}

/** The engine's decisions over the month. */
function outcomeOf(
  rules: readonly MonthRule[],
  settingsOf: (rule: MonthRule) => RuleSettings,
  windows: readonly Window[],
): Outcome {
  const openings = rules.flatMap((rule, index) => openingsOf(rule, index, settingsOf(rule)));
  const paged = replayPaging(openings, {
    windows,
    others: [],
    acknowledgedAfterMinutes: ACKNOWLEDGED_AFTER_MINUTES,
    now: fromEpochMilliseconds(msOf(MINUTES)),
  });
  const pages = paged.flatMap(({ runs }, index) => pagesOfRuns(runs, Number(openings[index]?.serviceId)));
  return {
    incidents: openings.length,
    waited: paged.filter(({ start }) => start.kind === 'quiet').length,
    joined: paged.filter(({ start }) => start.kind === 'with_parent').length,
    pages: pages.toSorted((a, b) => a.atMs - b.atMs),
  };
}

function openingsOf(rule: MonthRule, index: number, settings: RuleSettings): ReplayedOpening[] {
  const history = { firstMs: START, stepMs: MINUTE_MS, values: rule.values };
  return replayRule({ ...rule, settings }, history).map(({ openedAt, closedAt }) => ({
    serviceId: String(rule.service),
    ruleId: String(index),
    labels: rule.name === 'queue' && rule.service % 3 === 0 ? { queue: 'batch' } : {},
    escalationPolicyId: 'policy',
    severity: 'error',
    groupMinutes: settings.groupMinutes,
    repageMinutes: settings.repageMinutes,
    steps: SETTING.steps.length,
    openedAt: fromEpochMilliseconds(openedAt),
    closedAt: closedAt === null ? null : fromEpochMilliseconds(closedAt),
  }));
}

function pagesOfRuns(runs: ReplayedPaging<Window>['runs'], service: number): Page[] {
  return runs.flatMap(({ from, until }) => {
    const endMs = until?.epochMilliseconds ?? msOf(MINUTES);
    return simulateEscalation(SETTING, from).flatMap(({ firesAt, pages }) => {
      if (firesAt === null || firesAt.epochMilliseconds >= endMs) return [];
      return pages.filter(({ kind }) => kind === 'notify').map(() => ({ service, atMs: firesAt.epochMilliseconds }));
    });
  });
}

function msOf(minute: number): number {
  return START + minute * MINUTE_MS;
}

/** About the service while it was broken. */
function pagesOf({ service, from, to }: Outage, pages: readonly Page[]): readonly Page[] {
  return pages.filter((page) => page.service === service && page.atMs >= msOf(from) && page.atMs < msOf(to));
}

function longestSilence({ from, to }: Outage, pages: readonly Page[]): number {
  const times = [msOf(from), ...pages.map(({ atMs }) => atMs), msOf(to)];
  return Math.max(...times.slice(1).map((atMs, index) => atMs - (times[index] ?? atMs)));
}

function idlePages(pages: readonly Page[]): number {
  return pages.length - OUTAGES.reduce((sum, outage) => sum + pagesOf(outage, pages).length, 0);
}

const nightOf = nightFinder();

function atNight(pages: readonly Page[]): { readonly pages: number; readonly nights: number } {
  const nights = pages.flatMap(({ atMs }) => nightOf(atMs, ZONE) ?? []);
  return { pages: nights.length, nights: new Set(nights).size };
}
