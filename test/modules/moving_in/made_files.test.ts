import { expect, test } from 'vitest';

import { routeOf } from '#modules/alerts/decide/route.ts';
import { ourShifts } from '#modules/moving_in/decide/proof.ts';
import type { RawDocument } from '#modules/moving_in/decide/raw.ts';
import type { MoveInReport } from '#modules/moving_in/decide/report.ts';
import fc, { slowRuns } from '#test/kit/properties.ts';
import { item, NOW, read } from '#test/modules/moving_in/answers.ts';
import { randomOf } from '#test/modules/moving_in/random_answers.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';

/** `MOVE_IN_CASES=5000` tries as many made files. */
const MADE_CASES = Number(process.env['MOVE_IN_CASES'] ?? slowRuns(2_000, 60));

/** Checks that each item stands in the report once, and that whatever is not the same says why. */
function expectWholeReport({ read: counts, items }: MoveInReport): void {
  expect(new Set(items.map(({ kind, id }) => `${kind} ${id}`)).size).toBe(items.length);
  expect(items.length).toBe(Object.values(counts).reduce((sum, count) => sum + count, 0));
  expect(items.filter(({ verdict, reason }) => verdict !== 'exact' && reason === '')).toEqual([]);
}

const LABEL_VALUES = ['a', 'b', 'ab', 'abb', 'a.b', 'b-a', ''];
const PATTERNS = [
  'a',
  'a|b',
  '(a|ab)',
  '^(?:a|b-a)$',
  'a.*',
  '.*b',
  'a\\.b',
  'a.b',
  'ab*',
  'a+',
  '[ab]',
  '.*',
  '.+',
  '',
];

const matcherArb = fc
  .record({
    name: fc.constantFrom('x', 'y', 'z'),
    operator: fc.constantFrom('=', '=', '=~', '=~', '!=', '!~'),
    text: fc.nat(13),
    isQuoted: fc.boolean(),
  })
  .map(({ name, operator, text, isQuoted }) => {
    const value = (operator.endsWith('~') ? PATTERNS : LABEL_VALUES)[text % (operator.endsWith('~') ? 14 : 7)] ?? '';
    const written = isQuoted || !/^[\w.-]+$/.test(value) ? `"${value.replaceAll('\\', '\\\\')}"` : value;
    return { name, operator, value, written: `${name}${isQuoted ? operator : ` ${operator} `}${written}` };
  });

type MadeMatcher = { name: string; operator: string; value: string; written: string };

interface MadeRoute {
  readonly receiver: string;
  readonly made: readonly MadeMatcher[];
  readonly matchers: readonly string[];
  readonly continue: boolean;
  readonly mute_time_intervals?: readonly string[];
  readonly routes: readonly MadeRoute[];
}

/** Makes a route with routes of this kind below it. */
function routeArb(below: fc.Arbitrary<readonly MadeRoute[]>): fc.Arbitrary<MadeRoute> {
  return fc
    .record({
      receiver: fc.constantFrom('r0', 'r1', 'r2'),
      made: fc.array(matcherArb, { maxLength: 2 }),
      continue: fc.boolean(),
      isMuted: fc.boolean(),
      isBraced: fc.boolean(),
      routes: below,
    })
    .map(({ made, isMuted, isBraced, ...route }) => ({
      ...route,
      made,
      matchers: isBraced ? [`{${made.map(({ written }) => written).join(',')}}`] : made.map(({ written }) => written),
      ...(isMuted && { mute_time_intervals: ['nights'] }),
    }));
}

const leaves = fc.array(routeArb(fc.constant([])), { maxLength: 2 });
const routesArb = fc.array(routeArb(leaves), { maxLength: 4 });

type Labels = Readonly<Record<string, string>>;

/** Receivers of an alert, by the words of the Alertmanager's documentation. */
function receiversOf(route: MadeRoute, labels: Labels): string[] {
  const all: string[] = [];
  for (const child of route.routes) {
    const isTaken = child.made.every(({ name, operator, value }) => {
      const text = labels[name] ?? '';
      const isEqual = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(text) : text === value;
      return isEqual !== operator.startsWith('!');
    });
    if (!isTaken) continue;
    all.push(...receiversOf(child, labels));
    if (!child.continue) break;
  }
  return all.length === 0 ? [route.receiver] : all;
}

test('routes of Alertmanager page whom its documentation says, and say where they do not', () => {
  let [compared, refused] = [0, 0];
  const labelsArb = fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.constantFrom('a', 'b', 'ab', 'abb', 'a.b', 'b-a'));
  fc.assert(
    fc.property(routesArb, fc.array(labelsArb, { minLength: 8, maxLength: 8 }), (routes, alerts) => {
      const root = { receiver: 'r0', made: [], matchers: [], continue: false, routes };
      const receivers = ['r0', 'r1', 'r2'].map((name) => ({ name, email_configs: [{ to: `${name}@example.com` }] }));
      const mute_time_intervals = [{ name: 'nights', time_intervals: [] }];
      const result = read('alertmanager', [
        { path: 'alertmanager.yml', value: { route: root, receivers, mute_time_intervals } },
      ]);
      expectWholeReport(result.report);
      const nodes = (route: MadeRoute, id: string): [string, MadeRoute][] => [
        [id, route],
        ...route.routes.flatMap((child, index) => nodes(child, `${id}.${index}`)),
      ];
      const verdicts = nodes(root, '0').map(([id, route]) => ({ route, verdict: item(result, 'route', id) }));
      expect(item(result, 'time_interval', 'nights').verdict).toBe('refused');
      const lost = verdicts.filter(
        ({ route, verdict }) =>
          verdict.verdict === 'exact' && (route.continue || (route.mute_time_intervals ?? []).length > 0),
      );
      expect(lost).toEqual([]);
      if (verdicts.some(({ verdict }) => verdict.verdict === 'refused')) return void (refused += 1);
      compared += 1;
      for (const labels of alerts) {
        const ours = routeOf(
          result.file.routes![0]!.routes.map(({ conditions = [], policy = null }) => ({
            conditions: conditions as never,
            outcome: 'page' as const,
            policyId: policy,
            pagesOnRise: false,
          })),
          { severity: 'error', protocol: 'alertmanager', sourceName: '', details: { labels } },
        );
        expect([labels, ours?.policyId]).toEqual([labels, `alertmanager-${receiversOf(root, labels)[0]}`]);
      }
    }),
    { numRuns: MADE_CASES },
  );
  expect([compared > MADE_CASES / 10, refused > MADE_CASES / 10]).toEqual([true, true]);
});

test('matchers that cannot be read refuse their route, which would take every alert without them', () => {
  const written = [['team'], ['=core'], [{ value: 'core' }], 'team = core, ,', ['a="b" c="d"']];
  const routes = written.map((matchers) => ({ matchers, receiver: 'core' }));
  const result = read('alertmanager', [{ path: 'a.yml', value: { route: { receiver: 'core', routes } } }]);
  expect(written.map((_, index) => item(result, 'route', `0.${index}`).verdict)).toEqual(written.map(() => 'refused'));
  expect(result.file.routes![0]!.routes).toHaveLength(1);
});

const TAILS = ['', ' and y > 1', ' unless y > 1', ' or y > 1', ' and y > 1 or z > 2', ' OR y > 1'];
const SERIES = ['x', 'x{a="b or c"}', 'x{a=~"b|c",d!="e"}'];

const exprArb = fc
  .record({
    series: fc.constantFrom(...SERIES),
    window: fc.constantFrom('5m', '5m', '10m', '90s', '1h', '30d', '1h30m'),
    comparator: fc.constantFrom('>', '>', '>=', '<', '<=', '<=', '==', '> bool'),
    number: fc.constantFrom('5', '7', '0.5', '14.4 * 0.001', '-1', '1e3', '10 / 2', 'y'),
    shape: fc.oneof(fc.nat(14), fc.constantFrom(1, 5, 11)),
    tail: fc.oneof(fc.constant(''), fc.constantFrom(...TAILS)),
  })
  .map(({ series, window, comparator, number, shape, tail }) => {
    const [rate, average] = [`rate(${series}[${window}])`, `avg_over_time(${series}[${window}])`];
    const measured = [
      series,
      `sum(${rate})`,
      `avg(${rate})`,
      `count(${rate})`,
      rate,
      average,
      `max(${average})`,
      `delta(${series}[${window}])`,
      `${series} offset 5m`,
      `sum(rate(${series}[${window}] offset 1h))`,
      `${series} / y`,
      `sum(${rate}) / sum(rate(y[${window}])) * 100`,
      `sum(${series}) * 0`,
      `sum by (job) (${rate})`,
      `absent(${series})`,
    ][shape];
    return { expr: `${measured} ${comparator} ${number}${tail}`, shape, tail, comparator };
  });

/** Shapes that no rule says, by their place in the list. */
const NO_RULE = new Set([2, 3, 6, 7, 8, 9, 10, 12, 14]);

test('rules of Prometheus become rules or are refused with a reason, each once', () => {
  const seen: Record<string, number> = {};
  const durations = fc.constantFrom(undefined, '0s', '30s', '5m', '1h30m', '2d');
  const ruleArb = fc.record({ made: exprArb, for: durations, keep_firing_for: durations });
  fc.assert(
    fc.property(fc.array(fc.array(ruleArb, { maxLength: 3 }), { minLength: 1, maxLength: 3 }), (groups) => {
      const value = {
        groups: groups.map((rules) => ({
          name: 'same name',
          rules: [
            ...rules.map(({ made, ...rule }) => ({ alert: 'Same', expr: made.expr, ...rule })),
            { record: 'r', expr: 'x' },
          ],
        })),
      };
      const { file, report } = read('prometheus', [{ path: 'rules.yml', value }]);
      expectWholeReport(report);
      const made = groups.flat();
      expect([report.read['rule'] ?? 0, report.read['recording_rule']]).toEqual([made.length, groups.length]);
      const items = report.items.filter(({ kind }) => kind === 'rule');
      expect(file.rules?.length ?? 0).toBe(items.filter(({ verdict }) => verdict !== 'refused').length);
      for (const [
        index,
        {
          made: { expr, shape, tail, comparator },
          ...rule
        },
      ] of made.entries()) {
        const { verdict, reason } = items[index]!;
        seen[verdict] = (seen[verdict] ?? 0) + 1;
        const isNone = NO_RULE.has(shape) || /or |unless/i.test(tail) || ['==', '> bool'].includes(comparator);
        const isOdd = tail !== '' || [rule.for, rule.keep_firing_for].some((text) => text === '30s' || text === '2d');
        const wrong = [
          isNone && verdict !== 'refused',
          isOdd && verdict === 'exact',
          verdict === 'refused' && !reason.includes('No rule says'),
        ];
        expect([expr, ...wrong]).toEqual([expr, false, false, false]);
      }
    }),
    { numRuns: MADE_CASES },
  );
  expect(Object.keys(seen).toSorted()).toEqual(['compiled', 'exact', 'refused']);
});

// eslint-disable-next-line typescript/no-explicit-any -- answers of vendors, as they come
type Raw = any;

type WalkAt = (ms: number) => string[] | null;

const CASES = Math.ceil(MADE_CASES / 20);
const SAMPLES = 120;
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
const PEOPLE = ['ada', 'bo', 'cy', 'di'];
const iso = (ms: number): string => new Date(ms).toISOString();
const covers = (from: string, to: string, ms: number): boolean => Date.parse(from) <= ms && ms < Date.parse(to);

interface Told {
  readonly prefix: string;
  readonly documents: readonly RawDocument[];
  readonly walks: readonly WalkAt[];
}

const TELLING: Readonly<Record<string, (random: () => number) => Told>> = {
  /** Rolls of each rotation one after the other; an override stands in for one person wherever they are on call. */
  'splunk-on-call': (random) => {
    const pick = (): string => PEOPLE[Math.floor(random() * PEOPLE.length)]!;
    const begin = NOW - 3 * DAY_MS + Math.floor(random() * 48) * HOUR_MS;
    const rotations = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index) => {
      const rolls: Raw[] = [];
      let start = begin;
      for (let count = 0; count < 20; count += 1) {
        const end = start + (1 + Math.floor(random() * 168)) * HOUR_MS;
        if (random() < 0.9)
          rolls.push({
            start: iso(start),
            end: iso(end),
            onCallUser: { username: random() < 0.03 ? 'gone' : pick() },
            isRoll: true,
          });
        start = end;
      }
      return { onCallType: 'rotation_group', rotationName: `Rotation ${index}`, shiftName: 'Shift', rolls };
    });
    const overrides = Array.from({ length: Math.floor(random() * 3) }, () => {
      const start = NOW + Math.floor(random() * 60 * 24) * HOUR_MS;
      const end = start + (1 + Math.floor(random() * 200)) * HOUR_MS;
      return {
        origOnCallUser: { username: pick() },
        overrideOnCallUser: { username: pick() },
        start: iso(start),
        end: iso(end),
      };
    });
    const team = { name: 'Core', slug: 'team-core' };
    const users = PEOPLE.map((username) => ({
      username,
      firstName: username,
      lastName: 'A',
      email: `${username}@example.com`,
    }));
    const schedules = [{ policy: { name: 'Wake', slug: 'pol-1' }, schedule: rotations, overrides }];
    return {
      prefix: 'splunk',
      documents: [
        { path: 'api-public/v2/user', value: { users } },
        { path: 'api-public/v1/team', value: [{ ...team, memberCount: 4 }] },
        { path: 'api-public/v2/team/team-core/oncall/schedule', value: { team, schedules } },
      ],
      walks: rotations.map(({ rolls }) => (ms) => {
        const standing = overrides.filter(({ start, end }) => covers(start, end, ms));
        if (standing.length > 1) return null;
        const names = rolls
          .filter(({ start, end }) => covers(start, end, ms))
          .map(({ onCallUser }) => onCallUser.username);
        return names
          .map((name) =>
            standing[0]?.origOnCallUser.username === name ? standing[0]?.overrideOnCallUser.username : name,
          )
          .filter((name) => name !== 'gone');
      }),
    };
  },
  /** Events with people by their addresses, those at one time together; overrides take precedence. */
  'better-stack': (random) => {
    const events = Array.from({ length: 40 }, (_, id) => {
      const start = NOW - 3 * DAY_MS + Math.floor(random() * 120 * 24) * HOUR_MS;
      const users = Array.from(
        { length: Math.floor(random() * 3) },
        () => PEOPLE[Math.floor(random() * PEOPLE.length)]!,
      );
      const isUnknown = random() < 0.03;
      return {
        id,
        users: [...users.map((name) => `${name}@example.com`), ...(isUnknown ? ['gone@example.com'] : [])],
        starts_at: iso(start),
        ends_at: iso(start + (1 + Math.floor(random() * 168)) * HOUR_MS),
        override: random() < 0.2,
      };
    });
    const members = PEOPLE.map((id) => ({
      id,
      type: 'team_member',
      attributes: { email: `${id}@example.com`, name: id, role: 'member' },
    }));
    const calendar = { id: '77', type: 'on_call_calendar', attributes: { name: null, default_calendar: true } };
    return {
      prefix: 'betterstack',
      documents: [
        { path: 'api/v2/team-members', value: { data: members } },
        { path: 'api/v2/on-calls', value: { data: [calendar] } },
        { path: 'api/v2/on-calls/77/events', value: { events } },
      ],
      walks: [
        (ms) => {
          const running = events.filter(({ starts_at, ends_at }) => covers(starts_at, ends_at, ms));
          const counting = running.some(({ override }) => override)
            ? running.filter(({ override }) => override)
            : running;
          return counting
            .flatMap(({ users }) => users.map((email) => email.split('@')[0]!))
            .filter((id) => id !== 'gone');
        },
      ],
    };
  },
};

test.each(Object.entries(TELLING))('what %s tells of who is on call is written down as it stands', (tool, tell) => {
  const random = randomOf(11);
  const wrong: unknown[] = [];
  let compared = 0;
  for (let index = 0; index < CASES; index += 1) {
    const { prefix, documents, walks } = tell(random);
    const { file, report } = read(tool, documents);
    expect(file.schedules).toHaveLength(walks.length);
    expectWholeReport(report);
    const isTold = report.items.some(({ reason }) => reason.includes('gone'));
    expect(
      isTold || report.proof.some(({ differences }) => differences.some(({ cause }) => cause.includes('gone'))),
    ).toBe(JSON.stringify(documents).includes('"gone'));
    for (const [place, walk] of walks.entries()) {
      const schedule = file.schedules![place]!;
      const clock = new ZoneClock(schedule.timezone);
      const { reason } = report.items.filter(({ kind }) => kind === 'schedule')[place]!;
      const until = Date.parse(/written down until (\d{4}-\d\d-\d\d)/.exec(reason)![1]!);
      for (let sample = 0; sample < SAMPLES; sample += 1) {
        const ms = NOW + Math.floor((random() * (until - NOW)) / 60_000) * 60_000;
        const theirs = walk(ms);
        if (theirs === null) continue;
        compared += 1;
        const ours = ourShifts(schedule, clock, ms, ms + 60_000)[0]!.people.toSorted();
        const expected = [...new Set(theirs.map((id) => `${prefix}-${id}`))].toSorted();
        if (ours.join(' ') !== expected.join(' ')) wrong.push({ index, place, at: iso(ms), ours, expected });
      }
    }
  }
  expect(wrong.slice(0, 3)).toEqual([]);
  expect(compared).toBeGreaterThan(SAMPLES);
});
