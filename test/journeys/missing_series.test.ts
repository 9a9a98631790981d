import { beforeAll, describe, expect, test } from 'vitest';

import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import type { Comparator } from '#modules/rules/decide/kind_settings.ts';
import type { PointKind } from '#modules/metrics/decide/point.ts';
import type { StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import type { Id } from '#kernel/ids.ts';
import { type PointInput, runStoreTogether } from '#test/kit/ingest_jobs.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { evaluateRules } from '#workers/evaluate_rules.ts';

interface Rule {
  readonly aggregation: Aggregation;
  readonly comparator: Comparator;
  readonly threshold: number;
  readonly metricName?: string;
  readonly settings?: StoredSettings;
}

interface Host {
  readonly host: string;
  readonly value: number;
  readonly kind?: PointKind;
}

type Sent = Omit<PointInput, 'at'>;

/** Rule of a service of its own; it says what the service sends in each minute, and when its incidents are read. */
interface Row {
  readonly rule: Rule;
  readonly sends: (minute: number) => readonly Sent[];
  readonly readAfter: readonly number[];
}

const A: Host = { host: 'a', value: 96 };
const B: Host = { host: 'b', value: 20 };
const KEEP: StoredSettings = { noData: 'keep' };
const MAX_90: Rule = { aggregation: 'max', comparator: '>', threshold: 90 };

const load = (...hosts: readonly Host[]): Sent[] =>
  hosts.map(({ host, value, kind = 'gauge' }) => ({ name: 'load', value, kind, labels: { host } }));

/** A host breaches for two minutes, falls silent for seven, and has recovered in those after them. */
const silentRow = (rule: Rule, broken: Host = A): Row => ({
  rule: { ...rule, settings: { ...KEEP, ...rule.settings } },
  sends: (minute) => (minute <= 2 ? load(broken, B) : minute <= 9 ? load(B) : load({ ...broken, value: 20 }, B)),
  readAfter: [2, 9, 11, 14],
});

const SILENT = {
  'the greatest': silentRow(MAX_90),
  'the least': silentRow({ aggregation: 'min', comparator: '<', threshold: 10 }, { host: 'a', value: 3 }),
  'the mean': silentRow({ aggregation: 'avg', comparator: '>', threshold: 50 }),
  'the sum': silentRow({ aggregation: 'sum', comparator: '>', threshold: 210 }),
  'the newest': silentRow({ aggregation: 'last', comparator: '>=', threshold: 100 }),
  'the mean, with a recovery that is shorter than the window': silentRow({
    aggregation: 'avg',
    comparator: '>',
    threshold: 50,
    settings: { recoveryMinutes: 1 },
  }),
};

const OTHERS = {
  'ended by a stale marker': {
    rule: { aggregation: 'last', comparator: '>', threshold: 90, settings: KEEP },
    sends: (minute) => (minute <= 2 ? load(A, B) : minute === 3 ? load({ ...A, value: 0, kind: 'stale' }, B) : load(B)),
    readAfter: [8],
  },
  'kept by a rule of the usual settings': {
    rule: MAX_90,
    sends: (minute) => (minute <= 2 ? load(A, B) : load(B)),
    readAfter: [19, 20],
  },
  'recovered, or gone before': {
    rule: { ...MAX_90, settings: KEEP },
    sends(minute) {
      if (minute === 1) return load({ host: 'gone', value: 80 }, B);
      if (minute > 5 && minute <= 7) return load(A, B);
      return minute > 7 && minute <= 11 ? load({ ...A, value: 10 }, B) : load(B);
    },
    readAfter: [15],
  },
  'counted when it happens': {
    rule: { aggregation: 'sum', comparator: '>', threshold: 90, settings: KEEP },
    sends(minute) {
      const others: Host = { ...B, value: 1, kind: 'delta' };
      return minute === 1 ? load({ ...A, kind: 'delta' }, others) : load(others);
    },
    readAfter: [1, 7],
  },
  'a counter': {
    rule: { aggregation: 'sum', comparator: '>', threshold: 90, settings: KEEP },
    sends(minute) {
      const others: Host = { host: 'b', value: minute, kind: 'counter' };
      return minute <= 3 ? load({ host: 'a', value: 60 * minute, kind: 'counter' }, others) : load(others);
    },
    readAfter: [3, 10],
  },
  'a quantile of a histogram': {
    rule: { aggregation: 'avg', comparator: '>', threshold: 5, metricName: 'latency{quantile="0.9"}', settings: KEEP },
    sends(minute) {
      const [slow, quick] = [
        { host: 'a', bound: '10' },
        { host: 'b', bound: '1' },
      ] as const;
      return (minute <= 3 ? [slow, quick] : [quick]).flatMap(({ host, bound }) =>
        ['1', '10', '+Inf'].map((le) => ({
          name: 'latency_bucket',
          value: bound === '1' || le !== '1' ? 10 * minute : 0,
          kind: 'counter' as const,
          labels: { host, le },
        })),
      );
    },
    readAfter: [3, 10],
  },
  'slower than the window': {
    rule: { ...MAX_90, settings: { forMinutes: 8 } },
    // One that dies meanwhile is no slow one.
    sends: (minute) => (minute <= 6 ? load({ host: 'c', value: 99 }, B) : minute % 5 === 1 ? load(A, B) : load(B)),
    readAfter: [18, 26],
  },
} satisfies Record<string, Row>;

const ROWS: Record<string, Row> = { ...SILENT, ...OTHERS };

interface Read {
  readonly status: string;
  /** Row that is kept of the rule. */
  readonly memory: object | null;
  readonly resolvedBy: object | null;
  readonly texts: readonly string[];
}

async function watched(w: StaffedWorld, { settings, ...config }: Rule): Promise<Id<'service'>> {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const { serviceId, ruleId } = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] },
  ]);
  await w.expectOk('update_alert_rule', { ruleId, config: { metricName: 'load', windowMinutes: 3, ...config } });
  if (settings !== undefined) await setOfRule(w, ruleId, settings);
  return serviceId;
}

/** Stores what the services send in the next minute. */
async function nextMinute(
  w: StaffedWorld,
  sent: readonly { readonly serviceId: Id<'service'>; readonly points: readonly Sent[] }[],
): Promise<void> {
  w.clock.advance({ minutes: 1 });
  const at = w.clock.now();
  const timed = sent.map(({ serviceId, points }) => ({ serviceId, points: points.map((point) => ({ ...point, at })) }));
  await runStoreTogether(w.runtime, timed);
}

async function incidentsOf(w: StaffedWorld, serviceId: Id<'service'>): Promise<Read[]> {
  const { incidents } = await w.expectOk('list_incidents', { serviceId });
  const memory = await w.context.db.sql.row(
    'select m.* from rule_memory m join alert_rules r on r.id = m.rule_id where service_id = $1',
    [serviceId],
  );
  return await Promise.all(
    incidents.map(async ({ incidentId }: { incidentId: string }) => {
      const { status, resolvedBy, timeline } = await w.expectOk('get_incident', { incidentId });
      return { status, memory, resolvedBy, texts: timeline.map(({ text }: { text: string }) => text) };
    }),
  );
}

/** Walks all rows through the same minutes, and returns what was read of each. */
async function walk(w: StaffedWorld, rows: Record<string, Row>): Promise<Record<string, Read[][]>> {
  const services: (Row & { readonly name: string; readonly serviceId: Id<'service'> })[] = [];
  for (const [name, row] of Object.entries(rows))
    services.push({ ...row, name, serviceId: await watched(w, row.rule) });
  const read: Record<string, Read[][]> = {};
  for (let minute = 1; minute <= Math.max(...services.flatMap(({ readAfter }) => readAfter)); minute += 1) {
    const sending = services.filter(({ readAfter }) => minute <= readAfter.at(-1)!);
    await nextMinute(
      w,
      sending.map(({ serviceId, sends }) => ({ serviceId, points: sends(minute) })),
    );
    await w.evaluate();
    for (const { name, serviceId } of sending.filter(({ readAfter }) => readAfter.includes(minute))) {
      (read[name] ??= []).push(await incidentsOf(w, serviceId));
    }
  }
  return read;
}

const triggered = [expect.objectContaining({ status: 'triggered' })];
const resolved = [expect.objectContaining({ status: 'resolved' })];

describe('a host that breached and fell silent', () => {
  let read: Record<string, Read[][]>;
  beforeAll(async () => {
    const w = await staffedWorld({ keepOpen: true });
    read = await walk(w, ROWS);
    await w.close();
  });

  test.each(Object.entries(SILENT))('has not recovered by %s of the others', (name, { rule }) => {
    const [breached, silent, recovering, recovered] = read[name]!;
    expect(breached).toEqual(triggered);
    expect(silent).toEqual(triggered);
    expect(silent![0]!.texts.filter((text) => text.startsWith('Nothing more came'))).toEqual([
      'Nothing more came from host="a", so the condition is false only for want of data: the incident stays open until data from there shows recovery.',
    ]);
    expect(recovering).toEqual(rule.settings?.recoveryMinutes === undefined ? triggered : resolved);
    expect(recovered).toHaveLength(1);
    expect(recovered![0]!.texts.at(-1)).toMatch(/^Resolved by Tocsin itself, as its cause is gone/);
  });

  test('has not recovered if it ended by a stale marker', () => {
    expect(read['ended by a stale marker']).toEqual([triggered]);
  });

  test('is resolved as "no data" of it when the rule says so', () => {
    const [before, after] = read['kept by a rule of the usual settings']!;
    expect(before).toEqual(triggered);
    expect(after).toMatchObject([{ memory: null, resolvedBy: { system: true, via: 'rule', because: 'no_data' } }]);
    expect(after![0]!.texts.at(-1)).toMatch(
      /^Resolved by Tocsin itself, as no data arrives from host="a", for 15 minutes now\./,
    );
  });

  test('keeps nothing open if it had recovered before, or was gone before the breach', () => {
    const [incidents] = read['recovered, or gone before']!;
    expect(incidents).toHaveLength(1);
    expect(incidents![0]!.texts.at(-1)).toMatch(/^Resolved by Tocsin itself, as its cause is gone/);
  });

  test('is over where it told what is counted when it happens', () => {
    expect(read['counted when it happens']).toEqual([triggered, resolved]);
  });

  test('has not recovered as a counter that died while it rose, nor as the slow host of a quantile', () => {
    expect(read['a counter']).toEqual([triggered, triggered]);
    expect(read['a quantile of a histogram']).toEqual([triggered, triggered]);
  });

  test('breaches for as long as each of its samples does, if it sends more slowly than the window is long', () => {
    expect(read['slower than the window']).toMatchObject([[], [{}]]);
  });
});

test('a breach opens its incident before anybody looks for silent series of other rules, however long that takes', async () => {
  const w = await staffedWorld();
  const [first, second] = [await watched(w, { ...MAX_90, settings: KEEP }), await watched(w, MAX_90)];
  const passed = async (minutes: number, ...hosts: readonly Host[]) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      await nextMinute(w, [{ serviceId: first, points: load(...hosts) }]);
      await w.evaluate();
    }
  };
  await passed(2, A, B);
  expect(await incidentsOf(w, first)).toEqual(triggered);
  await passed(5, B);
  await nextMinute(w, [
    { serviceId: first, points: load(B) },
    { serviceId: second, points: load({ host: 'c', value: 99 }) },
  ]);
  const openWhenAsked: number[] = [];
  const find = async () => {
    openWhenAsked.push((await incidentsOf(w, second)).length);
    return null;
  };
  await evaluateRules({ ...w.runtime, missingSeries: { find } });
  expect(openWhenAsked).toEqual([1]);
});
