import { Temporal } from '#kernel/time.ts';
import type { RawDocument } from '#modules/moving_in/decide/raw.ts';

/** Random numbers of a seed. */
export type Random = () => number;

export function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const ZONES = [
  'America/New_York',
  'Europe/Berlin',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'UTC',
  'America/Santiago',
  'Africa/Casablanca',
];
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const DAY_NAMES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const DAY_MS = 86_400_000;
const BASE = Date.parse('2026-01-01T00:00:00Z');
const PEOPLE = 4;

const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
const two = (value: number): string => String(value).padStart(2, '0');

/** Makes answers of each tool with one schedule of whatever its API can say. */
export function randomAnswers(random: Random): Record<string, readonly RawDocument[]> {
  const int = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1));
  const pick = <Item>(items: readonly Item[]): Item => items[int(0, items.length - 1)]!;
  const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
    Array.from({ length: count }, (_, index) => make(index));
  const halfDay = (from: number, to: number): number => BASE + int(from, to) * (DAY_MS / 2);
  const [zone, shiftZone] = [pick(ZONES), pick(ZONES)];
  const pagerDutyUsers = {
    path: 'users.json',
    value: {
      users: times(PEOPLE, (index) => ({
        id: `U${index}`,
        type: 'user',
        name: `n${index}`,
        email: `u${index}@example.com`,
      })),
    },
  };

  const restrictions = (): object[] =>
    pick([
      () => [],
      () => [
        {
          type: 'daily_restriction',
          start_time_of_day: `${two(int(0, 23))}:${pick(['00', '30'])}:00`,
          duration_seconds: 1_800 * int(1, 48),
        },
      ],
      () =>
        times(int(1, 3), () => ({
          type: 'weekly_restriction',
          start_day_of_week: int(0, 7),
          start_time_of_day: `${two(int(0, 23))}:00:00`,
          duration_seconds: 3_600 * int(1, 120),
        })),
    ])();
  // PagerDuty renders times, and with them the hours of restrictions, in the zone of whoever asks.
  const askedZone = random() < 0.6 ? zone : 'UTC';
  const rendered = (ms: number): string =>
    Temporal.Instant.fromEpochMilliseconds(ms).toString({ timeZone: askedZone, smallestUnit: 'second' });
  const pagerDutyLayer = (index: number): object => {
    const anchor = halfDay(-400, 500) + int(0, 47) * 1_800_000;
    return {
      id: `L${index}`,
      name: pick(['A', 'B']),
      start: rendered(pick([anchor, anchor + int(0, 20) * (DAY_MS / 4)])),
      end: random() < 0.2 ? rendered(anchor + int(20, 400) * DAY_MS) : null,
      rotation_virtual_start: rendered(anchor),
      rotation_turn_length_seconds: pick([3_600 * int(1, 30), 86_400 * int(1, 5), 604_800 * int(1, 3)]),
      restrictions: restrictions(),
      users: times(int(1, 4), () => ({ user: { id: `U${int(0, PEOPLE - 1)}`, type: 'user_reference' } })),
    };
  };
  const overrides = times(int(0, 3), (index) => {
    const start = halfDay(0, 500);
    return {
      id: `O${index}`,
      start: iso(start),
      end: iso(start + int(1, 90) * 1_800_000),
      user: { id: `U${int(0, PEOPLE - 1)}`, type: 'user_reference' },
    };
  });

  const opsgenieRotation = (index: number): object => {
    const start = halfDay(-400, 300);
    return {
      id: `r${index}`,
      name: `R${index}`,
      startDate: iso(start),
      endDate: random() < 0.15 ? iso(start + int(20, 400) * DAY_MS) : null,
      type: pick(['daily', 'weekly', 'hourly']),
      length: int(1, 4),
      timeRestriction: pick([
        null,
        {
          type: 'time-of-day',
          restriction: { startHour: int(0, 23), startMin: pick([0, 30]), endHour: int(0, 23), endMin: 0 },
        },
        {
          type: 'weekday-and-time-of-day',
          restrictions: times(int(1, 3), () => ({
            startDay: pick(DAYS),
            startHour: int(0, 23),
            startMin: 0,
            endDay: pick(DAYS),
            endHour: int(0, 23),
            endMin: 30,
          })),
        },
      ]),
      participants: times(int(1, 3), () =>
        random() < 0.15 ? { type: 'none' } : { type: 'user', id: `u${int(0, PEOPLE - 1)}` },
      ),
    };
  };

  const shiftEvent = (zone: string, index: number): object => {
    const start = BASE + int(0, 60) * DAY_MS + int(0, 23) * 3_600_000;
    const isWeekly = random() < 0.5;
    const byDay =
      isWeekly && random() < 0.6 ? `;BYDAY=${[...new Set(times(int(1, 5), () => pick(DAY_NAMES)))].join(',')}` : '';
    const hours = byDay === '' && isWeekly ? int(1, 168) : int(1, 24);
    return {
      id: `E${index}`,
      name: 'e',
      start_time: { date_time: iso(start), time_zone: zone },
      end_time: { date_time: iso(start + hours * 3_600_000), time_zone: zone },
      effective_since: iso(start),
      effective_until: random() < 0.1 ? iso(start + int(30, 300) * DAY_MS) : null,
      recurrence: [
        `RRULE:FREQ=${isWeekly ? 'WEEKLY' : 'DAILY'}${byDay}${random() < 0.5 ? ';INTERVAL=2' : ''}${pick([
          '',
          '',
          `;COUNT=${int(20, 200)}`,
          ';UNTIL=20261101T120000Z',
        ])}`,
      ],
      assignment_strategy: {
        type: random() < 0.3 ? 'every_member_assignment_strategy' : 'rotating_member_assignment_strategy',
        shifts_per_member: int(1, 3),
        members: times(int(1, 3), () =>
          random() < 0.1 ? { type: 'empty_member' } : { type: 'user_member', user_id: `U${int(0, PEOPLE - 1)}` },
        ),
      },
    };
  };

  const shiftTime = (): object => {
    const start = halfDay(150, 500);
    return { start_time: { date_time: iso(start) }, end_time: { date_time: iso(start + int(1, 90) * 3_600_000) } };
  };

  const onCallShift = (index: number): object => {
    const start = BASE + int(-100, 200) * DAY_MS + int(0, 23) * 3_600_000;
    const frequency = pick(['daily', 'weekly', 'hourly']);
    const interval = int(1, 3);
    const byDay =
      frequency !== 'hourly' && random() < 0.5 ? [...new Set(times(int(1, 5), () => pick(DAY_NAMES)))] : null;
    const hours =
      frequency === 'hourly' ? interval : byDay !== null || frequency === 'daily' ? int(1, 24) : int(1, 168);
    return {
      id: `OS${index}`,
      name: `s${index}`,
      type: pick(['rolling_users', 'rolling_users', 'recurrent_event', 'single_event', 'override']),
      level: int(0, 2),
      start: iso(start).slice(0, 19),
      rotation_start: iso(start).slice(0, 19),
      duration: hours * 3_600,
      time_zone: null,
      frequency,
      interval,
      by_day: byDay,
      week_start: pick(DAY_NAMES),
      until: random() < 0.1 ? iso(start + int(10, 300) * DAY_MS).slice(0, 19) : null,
      users: [`U${int(0, PEOPLE - 1)}`],
      rolling_users: times(int(1, 3), () => times(int(1, 2), () => `U${int(0, PEOPLE - 1)}`)),
      start_rotation_from_user_index: int(0, 2),
    };
  };

  const goAlertTime = (): { start: string; end: string } => {
    const start = BASE + int(100, 500) * DAY_MS + int(0, 23) * 3_600_000;
    return { start: iso(start), end: iso(start + int(1, 20) * 6 * 3_600_000) };
  };
  const goAlertUser = (): string => `u${int(0, PEOPLE - 1)}`;
  const goAlertRotations = times(int(1, 3), (index) => ({
    id: `R${index}`,
    name: `r${index}`,
    type: pick(['hourly', 'daily', 'weekly', 'monthly']),
    shiftLength: int(1, 9),
    start: iso(BASE + int(-400, 100) * DAY_MS + int(0, 23) * 3_600_000),
    timeZone: random() < 0.7 ? zone : pick(ZONES),
    activeUserIndex: 0,
    userIDs: times(int(1, 4), goAlertUser),
  }));
  const goAlertRule = (): object => ({
    start: `${two(int(0, 23))}:${pick(['00', '30'])}`,
    end: `${two(int(0, 23))}:00`,
    weekdayFilter: times(7, () => random() < 0.7),
  });
  const goAlertSchedule = {
    id: 'S',
    name: 'S',
    timeZone: zone,
    targets: [
      ...goAlertRotations.map(({ id, name }) => ({
        target: { id, type: 'rotation', name },
        rules: random() < 0.4 ? [] : times(int(1, 2), goAlertRule),
      })),
      ...times(int(0, 1), () => ({ target: { id: goAlertUser(), type: 'user', name: 'u' }, rules: [goAlertRule()] })),
    ],
    temporarySchedules: times(int(0, 1), () => {
      const time = goAlertTime();
      return { ...time, shifts: [{ ...time, end: goAlertTime().end, userID: goAlertUser() }] };
    }),
  };
  const shifts = times(int(1, 4), onCallShift);
  return {
    goalert: [
      {
        path: 'answer.json',
        value: {
          data: {
            users: times(PEOPLE, (index) => ({ id: `u${index}`, name: `n${index}`, email: `u${index}@example.com` })),
            rotations: goAlertRotations.map((rotation) => ({
              ...rotation,
              activeUserIndex: int(0, rotation.userIDs.length - 1),
            })),
            schedules: [goAlertSchedule],
            userOverrides: times(int(0, 3), (index) => ({
              id: `O${index}`,
              ...goAlertTime(),
              ...pick([
                { addUserID: goAlertUser(), removeUserID: '' },
                { addUserID: '', removeUserID: goAlertUser() },
                { addUserID: goAlertUser(), removeUserID: goAlertUser() },
              ]),
              target: { id: 'S', type: 'schedule', name: 'S' },
            })),
          },
        },
      },
    ],
    pagerduty: [
      pagerDutyUsers,
      {
        path: 'schedules-s.json',
        value: {
          schedule: {
            id: 'S',
            name: 'S',
            time_zone: zone,
            teams: [],
            schedule_layers: times(int(1, 4), pagerDutyLayer),
          },
        },
      },
      { path: 'schedules-s-overrides.json', value: { overrides } },
    ],
    opsgenie: [
      {
        path: 'v2-users.json',
        value: {
          data: times(PEOPLE, (index) => ({
            id: `u${index}`,
            username: `u${index}@example.com`,
            fullName: `n${index}`,
            role: { name: 'Admin' },
          })),
        },
      },
      {
        path: 'v2-schedules-ss.json',
        value: {
          data: { id: 'ss', name: 'S', timezone: zone, enabled: true, rotations: times(int(1, 3), opsgenieRotation) },
        },
      },
      {
        path: 'v2-schedules-ss-overrides.json',
        value: {
          data: times(int(0, 3), (index) => {
            const start = halfDay(150, 500);
            return {
              alias: `o${index}`,
              user: random() < 0.15 ? { type: 'none' } : { type: 'user', id: `u${int(0, PEOPLE - 1)}` },
              startDate: iso(start),
              endDate: iso(start + int(1, 90) * 3_600_000),
              rotations: random() < 0.5 ? [] : [{ id: `r${int(0, 1)}` }],
            };
          }),
        },
      },
    ],
    'pagerduty, version 3': [
      pagerDutyUsers,
      {
        path: 'v3-schedules-s9.json',
        value: {
          schedule: {
            id: 'S9',
            name: 'S',
            time_zone: shiftZone,
            rotations: times(int(1, 2), (index) => ({
              id: `R${index}`,
              name: `R${index}`,
              events: [shiftEvent(shiftZone, index)],
            })),
          },
        },
      },
      {
        path: 'v3-schedules-s9-overrides.json',
        value: {
          overrides: times(int(0, 2), (index) => ({
            id: `VO${index}`,
            ...shiftTime(),
            overriding_member: { type: 'user_member', user_id: `U${int(0, PEOPLE - 1)}` },
          })),
        },
      },
      {
        path: 'v3-schedules-s9-custom_shifts.json',
        value: {
          custom_shifts: times(int(0, 2), (index) => ({
            id: `VC${index}`,
            ...shiftTime(),
            assignments: times(int(1, 2), () => ({
              member: { type: 'user_member', user_id: `U${int(0, PEOPLE - 1)}` },
            })),
          })),
        },
      },
    ],
    'grafana-oncall': [
      {
        path: 'users.json',
        value: {
          count: PEOPLE,
          results: times(PEOPLE, (index) => ({
            id: `U${index}`,
            username: `n${index}`,
            email: `u${index}@example.com`,
            role: 'admin',
          })),
        },
      },
      {
        path: 'schedules.json',
        value: {
          count: 1,
          results: [
            {
              id: 'SC1',
              name: 'S',
              type: 'calendar',
              team_id: null,
              time_zone: pick(['UTC', 'Asia/Kolkata']),
              shifts: shifts.map((_, index) => `OS${index}`),
            },
          ],
        },
      },
      { path: 'on_call_shifts.json', value: { count: shifts.length, results: shifts } },
    ],
  };
}
