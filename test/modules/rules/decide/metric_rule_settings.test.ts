import fc, { slowRuns } from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { parseRuleSettings, type StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import {
  decideMetricRule,
  type InstantLike,
  NO_MEMORY,
  type OpenBreach,
  type RuleDecision,
  type RuleMemory,
} from '#modules/rules/decide/breach.ts';
import { type ReplayedIncident, replayRule } from '#modules/rules/decide/replay.ts';
import {
  type Comparator,
  METRIC_RULE_DEFAULTS,
  type MetricRuleSettings,
  NO_DATA_CHOICES,
} from '#modules/rules/decide/kind_settings.ts';

const MINUTE = 60_000;

/** One evaluation a minute: a value, no data, or data that has not arrived yet. */
type Found = number | null | 'waiting';

interface Rule {
  readonly comparator: Comparator;
  readonly threshold: number;
  readonly windowMinutes: number;
  readonly settings: MetricRuleSettings;
}

/** The decisions, one after the other, with what is remembered between them. */
function drive(rule: Rule, history: readonly Found[]): ReplayedIncident[] {
  const incidents: { openedAt: number; closedAt: number | null }[] = [];
  let open = null as OpenBreach<InstantLike> | null;
  let memory: RuleMemory<InstantLike> = NO_MEMORY;
  for (const [minute, found] of history.entries()) {
    const now: InstantLike = { epochMilliseconds: minute * MINUTE };
    const recentIncidents = recentOf(incidents, rule.settings);
    const isWaiting = found === 'waiting';
    const value = isWaiting ? null : found;
    const decision: RuleDecision<InstantLike> = decideMetricRule<InstantLike>(rule, {
      value,
      isWaiting,
      open,
      memory,
      recentIncidents,
      now,
    });
    switch (decision.kind) {
      case 'open':
        incidents.push({ openedAt: now.epochMilliseconds, closedAt: null });
        [open, memory] = [{ countedAt: now, clearSince: null }, NO_MEMORY];
        break;
      case 'raise_occurrences':
        [open, memory] = [{ countedAt: now, clearSince: null }, NO_MEMORY];
        break;
      case 'resolve':
        incidents.at(-1)!.closedAt = now.epochMilliseconds;
        [open, memory] = [null, NO_MEMORY];
        break;
      case 'remember':
        open = open && { ...open, clearSince: decision.clearSince };
        memory = decision.memory;
        break;
      case 'keep_open':
      case 'find_missing':
      case 'nothing':
    }
  }
  return incidents;
}

/** Returns the incidents within the time before the last one opened. */
function recentOf(incidents: readonly ReplayedIncident[], { flapMinutes }: MetricRuleSettings): number {
  const { openedAt: last = 0 } = incidents.at(-1) ?? {};
  return incidents.filter(({ openedAt }) => openedAt > last - flapMinutes * MINUTE).length;
}

/** The same by looking back over the whole history each minute, with nothing remembered. */
function lookBack({ comparator, threshold, windowMinutes, settings }: Rule, history: readonly Found[]) {
  const isTrue = (value: Found | undefined, limit: number): boolean =>
    typeof value === 'number' && (comparator === '>' ? value > limit : value < limit);
  const isClear = (value: Found | undefined): boolean =>
    typeof value === 'number' &&
    !isTrue(value, threshold) &&
    (settings.recoveryThreshold === null || !isTrue(value, settings.recoveryThreshold));
  const incidents: { openedAt: number; closedAt: number | null }[] = [];
  /**
   * Returns for how many minutes it has been so up to this minute; -1 when it is not so now. Minutes without data break
   * nothing until they have lasted for `noDataMinutes`.
   */
  const lasting = (
    until: number,
    from: number,
    holds: (value: Found | undefined) => boolean,
    skipsWaiting: boolean,
  ) => {
    let since = -1;
    for (let minute = until; minute >= from; minute -= 1) {
      if (skipsWaiting && minute < until && history[minute] === 'waiting') continue;
      if (holds(history[minute])) since = minute;
      else if (history[minute] !== null || minute === until || silentFor(minute, from, skipsWaiting)) break;
    }
    return since === -1 ? -1 : until - since;
  };
  /** Whether nothing has come for `noDataMinutes` up to this minute. */
  const silentFor = (until: number, from: number, skipsWaiting: boolean): boolean => {
    let first = until;
    for (let minute = until; minute >= from; minute -= 1) {
      if (skipsWaiting && history[minute] === 'waiting') continue;
      if (history[minute] !== null) break;
      first = minute;
    }
    return until - first >= settings.noDataMinutes;
  };
  let from = 0;
  for (const minute of history.keys()) {
    const last = incidents.at(-1);
    if (last === undefined || last.closedAt !== null) {
      const breached = lasting(minute, from, (value) => isTrue(value, threshold), true);
      const silent = lasting(minute, from, (value) => value === null, true);
      const pagesSilence = settings.noData === 'page' && silent >= settings.noDataMinutes;
      if ((breached >= 0 && breached >= settings.forMinutes) || pagesSilence) {
        incidents.push({ openedAt: minute * MINUTE, closedAt: null });
        from = minute + 1;
      }
      continue;
    }
    const isFlapping = settings.flapIncidents !== null && recentOf(incidents, settings) >= settings.flapIncidents;
    const wanted = Math.max(settings.recoveryMinutes ?? windowMinutes, isFlapping ? settings.flapMinutes : 0);
    const clear = lasting(minute, from, isClear, false);
    const silent = lasting(minute, from, (value) => value === null, false);
    const endsSilent = settings.noData === 'resolve' && silent >= settings.noDataMinutes;
    if ((clear >= 0 && clear >= wanted) || endsSilent) {
      last.closedAt = minute * MINUTE;
      from = minute + 1;
    }
  }
  return incidents;
}

const settings: fc.Arbitrary<MetricRuleSettings> = fc.record({
  forMinutes: fc.integer({ min: 0, max: 4 }),
  recoveryThreshold: fc.option(fc.integer({ min: 0, max: 6 })),
  recoveryMinutes: fc.option(fc.integer({ min: 0, max: 5 })),
  noData: fc.constantFrom(...NO_DATA_CHOICES),
  noDataMinutes: fc.integer({ min: 1, max: 5 }),
  flapIncidents: fc.option(fc.integer({ min: 2, max: 4 })),
  flapMinutes: fc.integer({ min: 1, max: 20 }),
  // These say what is measured, not what is decided from it.
  shortWindowMinutes: fc.constant(null),
  trafficAtLeast: fc.constant(null),
  byLabel: fc.constant(null),
  severity: fc.constant('error'),
});

const rule: fc.Arbitrary<Rule> = fc.record({
  comparator: fc.constantFrom<Comparator>('>', '<'),
  threshold: fc.integer({ min: 2, max: 4 }),
  windowMinutes: fc.integer({ min: 1, max: 4 }),
  settings,
});

/** Runs of the same, so that what has to last does last. */
const historyOf = (found: fc.Arbitrary<Found>): fc.Arbitrary<Found[]> =>
  fc
    .array(fc.tuple(found, fc.integer({ min: 1, max: 8 })), { maxLength: 14 })
    .map((runs) => runs.flatMap(([value, length]) => Array.from({ length }, () => value)));

const value = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 6 }) },
  { weight: 2, arbitrary: fc.constant(null) },
);

describe('a rule with settings', () => {
  test('opens and resolves exactly when looking back over all evaluations says so', () => {
    const seen = { opened: 0, resolved: 0 };
    const found = fc.oneof({ weight: 8, arbitrary: value }, { weight: 1, arbitrary: fc.constant('waiting' as const) });
    fc.assert(
      fc.property(rule, historyOf(found), (asked, history) => {
        const incidents = drive(asked, history);
        expect(incidents).toEqual(lookBack(asked, history));
        seen.opened += incidents.length;
        seen.resolved += incidents.filter(({ closedAt }) => closedAt !== null).length;
      }),
      { numRuns: slowRuns(4_000) },
    );
    expect(seen.opened).toBeGreaterThan(100);
    expect(seen.resolved).toBeGreaterThan(50);
  });

  test('is replayed as it is evaluated', () => {
    fc.assert(
      fc.property(rule, historyOf(value), (asked, values) => {
        const history = { firstMs: 0, stepMs: MINUTE, values: values.map((one) => (one === 'waiting' ? null : one)) };
        expect(replayRule(asked, history)).toEqual(drive(asked, values));
      }),
      { numRuns: 1_000 },
    );
  });

  test('never loses a breach: one that lasts longer than it has to always finds or makes an open incident', () => {
    fc.assert(
      fc.property(rule, historyOf(value), (asked, before) => {
        const breach = asked.comparator === '>' ? 9 : -9;
        const lasting = Array.from({ length: asked.settings.forMinutes + 1 }, () => breach);
        expect(drive(asked, [...before, ...lasting]).at(-1)).toMatchObject({ closedAt: null });
      }),
      { numRuns: 1_000 },
    );
  });

  test('that flaps opens no more incidents than the settings allow within their time', () => {
    const flapping = { ...METRIC_RULE_DEFAULTS, flapIncidents: 3, flapMinutes: 60 };
    const asked: Rule = { comparator: '>', threshold: 5, windowMinutes: 1, settings: flapping };
    const upAndDown = Array.from({ length: 240 }, (_, minute) => (minute % 4 === 0 ? 9 : 1));
    expect(drive({ ...asked, settings: METRIC_RULE_DEFAULTS }, upAndDown)).toHaveLength(60);
    expect(drive(asked, upAndDown)).toHaveLength(3);
  });
});

test('a clock that was set back makes nothing wait for longer than it has to', () => {
  const asked: Rule = {
    comparator: '>',
    threshold: 5,
    windowMinutes: 1,
    settings: { ...METRIC_RULE_DEFAULTS, forMinutes: 2 },
  };
  const later: InstantLike = { epochMilliseconds: 600_000 };
  const now: InstantLike = { epochMilliseconds: 0 };
  const memory: RuleMemory<InstantLike> = { ...NO_MEMORY, breachedSince: later };
  expect(decideMetricRule<InstantLike>(asked, { value: 9, open: null, memory, now })).toEqual({
    kind: 'remember',
    clearSince: null,
    memory: { ...NO_MEMORY, breachedSince: now },
  });
});

describe('settings are refused', () => {
  const config = { metricName: 'load', comparator: '>', threshold: 90, windowMinutes: 5, aggregation: 'avg' } as const;
  const faults = (given: object, kind: 'metric_threshold' | 'exception' = 'metric_threshold') => {
    const parsed = parseRuleSettings(
      kind === 'exception' ? { kind, config: { minSeverity: 'error' } } : { kind, config },
      given,
      'settings',
    );
    return parsed.kind === 'faults' ? parsed.faults : [];
  };

  test.each<[string, object]>([
    ['forMinutes', { forMinutes: -1 }],
    ['forMinutes', { forMinutes: 1.5 }],
    ['forMinutes', { forMinutes: 1_441 }],
    ['noData', { noData: 'ignore' }],
    ['noDataMinutes', { noDataMinutes: 0 }],
    ['recoveryThreshold', { recoveryThreshold: 91 }],
    ['flapIncidents', { flapIncidents: 1 }],
    ['unknown', { unknown: 1 }],
  ])('for a wrong %s', (field, given) => {
    expect(faults(given)).toMatchObject([{ path: `settings.${field}` }]);
  });

  test('which a rule about exceptions does not have', () => {
    expect(faults({ forMinutes: 5 }, 'exception')).toMatchObject([{ path: 'settings.forMinutes' }]);
  });

  test('never when they are the defaults, or on the safe side of the threshold', () => {
    const given: StoredSettings = { ...METRIC_RULE_DEFAULTS, recoveryThreshold: 80 };
    expect(faults(given)).toEqual([]);
  });
});
