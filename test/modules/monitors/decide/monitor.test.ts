import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import {
  decideCheckIn,
  editMonitor,
  useJobSchedule,
  type MonitorState,
  NEW_MONITOR,
  overdueFrom,
} from '#modules/monitors/decide/monitor.ts';
import { readCheckInRequest } from '#ingest/protocols/sentry/check_ins.ts';
import {
  type MonitorConfig,
  type MonitorSchedule,
  nextDue,
  parseMonitorConfig,
  readMonitorConfig,
} from '#modules/monitors/decide/schedule.ts';
import { Temporal } from '#kernel/time.ts';
import { at, config, NO_RUNS, Watched } from '#test/modules/monitors/decide/watched_monitor.ts';

const HOURLY = config({ schedule: { type: 'crontab', value: '0 * * * *' }, checkin_margin: 5, max_runtime: 10 });

test('a run that does not begin within the margin is missed once, and a good one ends that', () => {
  const monitor = new Watched();
  monitor.say('a', 'ok', 0.2, HOURLY);
  expect(monitor.state.nextDueAt).toEqual(at(60));
  expect(monitor.look(64.9)).toMatchObject({ missedAt: null, change: 'none' });
  expect(monitor.look(65)).toMatchObject({ missedAt: at(60), change: 'fails' });
  expect(monitor.look(66)).toMatchObject({ missedAt: null, change: 'none' });
  expect(monitor.say('b', 'in_progress', 70)).toBe('none');
  expect(monitor.say('b', 'ok', 72)).toBe('recovers');
  expect(monitor.look(124)).toMatchObject({ missedAt: null });
});

test('a run took as long as the client that ends it says', () => {
  const inProgress = decideCheckIn(
    NEW_MONITOR,
    null,
    { status: 'in_progress', durationMs: null, at: at(0), config: null },
    NO_RUNS,
  );
  const ended = { status: 'ok', durationMs: 90_000, at: at(5), config: null } as const;
  const { run } = decideCheckIn(inProgress.monitor, inProgress.run, ended, NO_RUNS);
  expect(run).toMatchObject({ status: 'ok', startedAt: at(3.5), endedAt: at(5) });
  const unmeasured = decideCheckIn(inProgress.monitor, inProgress.run, { ...ended, durationMs: null }, NO_RUNS);
  expect(unmeasured.run).toMatchObject({ startedAt: at(0), endedAt: at(5) });
});

test('a run that takes too long fails, and recovers when it ends well after all', () => {
  const monitor = new Watched();
  monitor.say('a', 'in_progress', 0, HOURLY);
  expect(monitor.look(9.9).timedOut).toBe(0);
  expect(monitor.look(10)).toMatchObject({ timedOut: 1, change: 'fails' });
  expect(monitor.say('a', 'ok', 12)).toBe('recovers');
});

test('a run that says again that it goes on has as much time again', () => {
  const monitor = new Watched();
  monitor.say('a', 'in_progress', 0, HOURLY);
  monitor.say('a', 'in_progress', 9);
  expect(monitor.look(18.9)).toMatchObject({ timedOut: 0 });
  expect(monitor.runs.get('a')?.startedAt).toEqual(at(0));
  expect(monitor.look(19)).toMatchObject({ timedOut: 1, change: 'fails' });
  expect(monitor.say('a', 'in_progress', 20)).toBe('none');
  expect(monitor.runs.get('a')?.status).toBe('timeout');
});

test.each(['', '  ', null])(
  'a time zone of %j is UTC: clients send it for a setting that nobody has made',
  (timezone) => {
    const sent = readMonitorConfig({ schedule: { type: 'crontab', value: '0 4 * * *' }, timezone });
    expect(sent.schedule).toEqual({ type: 'crontab', crontab: '0 4 * * *', timezone: 'UTC' });
  },
);

test('thresholds count runs in a row', () => {
  const twice = { ...HOURLY, failureThreshold: 2, recoveryThreshold: 2 };
  const monitor = new Watched();
  const said = (['error', 'ok', 'error', 'error', 'error', 'ok', 'error', 'ok', 'ok', 'ok'] as const).map(
    (status, index) => monitor.say(String(index), status, index, twice),
  );
  const none = 'none';
  expect(said).toEqual([none, none, none, 'fails', 'fails', none, 'fails', none, 'recovers', none]);
});

test('a run that begins half a minute early is the one that was expected', () => {
  const monitor = new Watched();
  monitor.say('a', 'ok', 0, HOURLY);
  monitor.say('b', 'ok', 59.6);
  expect(monitor.state.nextDueAt).toEqual(at(120));
});

test.each([
  ['CRON_TZ=Europe/Berlin 0 4 * * *', { type: 'crontab', crontab: '0 4 * * *', timezone: 'Europe/Berlin' }],
  ['TZ=Asia/Tokyo  @daily', { type: 'crontab', crontab: '@daily', timezone: 'Asia/Tokyo' }],
  ['@every 90m', { type: 'interval', value: 90, unit: 'minute', timezone: 'UTC' }],
  ['@every 1h30m0s', { type: 'interval', value: 90, unit: 'minute', timezone: 'UTC' }],
  ['@every 24h', { type: 'interval', value: 24, unit: 'hour', timezone: 'UTC' }],
  ['CRON_TZ="Europe/Berlin" 0 4 * * *', { type: 'crontab', crontab: '0 4 * * *', timezone: 'Europe/Berlin' }],
  ['CRON_TZ=Nowhere 0 4 * * *', { type: 'unreadable', fault: expect.stringContaining('Nowhere') }],
  ['@every 5s', { type: 'unreadable' }],
  ['@every 0m', { type: 'unreadable' }],
])('%s, as schedulers of Go take it, is read', (value, schedule) => {
  expect(readMonitorConfig({ schedule: { type: 'crontab', value } }).schedule).toMatchObject(schedule);
});

const crontab = (value: string, more: object = {}): MonitorConfig =>
  config({ schedule: { type: 'crontab', value }, checkin_margin: 1, ...more });

test.each<[name: string, sent: MonitorConfig, begin: number, dueAt: number]>([
  ['45 s before a daily run', crontab('0 13 * * *'), 59.25, 60 + 1_440],
  ['5 minutes before a daily run', crontab('0 13 * * *'), 55, 60 + 1_440],
  ['6 minutes before a daily run', crontab('0 13 * * *'), 54, 60],
  ['6 minutes before, with a margin of 10', crontab('0 13 * * *', { checkin_margin: 10 }), 54, 60 + 1_440],
  ['40 s before a run of each minute', crontab('* * * * *'), 59 + 1 / 3, 60],
  ['2 minutes before one of every 5', crontab('*/5 * * * *'), 58, 65],
])('a run that begins %s is taken for the one that is nearer', (_, sent, begin, dueAt) => {
  const monitor = new Watched();
  monitor.say('a', 'ok', begin, sent);
  expect(monitor.state.nextDueAt).toEqual(at(dueAt));
});

test('an early run of each day is never missed', () => {
  const monitor = new Watched();
  for (let day = 0; day < 5; day += 1) {
    monitor.say(`run ${day}`, 'ok', 59.25 + day * 1_440, crontab('0 13 * * *'));
    expect(monitor.look(61 + day * 1_440)).toMatchObject({ missedAt: null });
  }
});

test.each([
  ['before it is missed', false],
  ['once it was missed', true],
])('a late run that begins %s says nothing of the next one, even shortly before it', (_, isTold) => {
  const monitor = new Watched();
  monitor.say('a', 'ok', 0, crontab('0,3 * * * *'));
  monitor.say('b', 'ok', 4, null);
  expect(monitor.state.nextDueAt).toEqual(at(60));
  if (isTold) monitor.look(61);
  monitor.say('c', 'ok', 62, null);
  expect(monitor.state.nextDueAt).toEqual(at(63));
});

test('an early run is the next one again the day after one was missed', () => {
  const monitor = new Watched();
  monitor.say('a', 'ok', 60, crontab('0 13 * * *'));
  expect(monitor.look(61 + 1_440)).toMatchObject({ missedAt: at(60 + 1_440) });
  monitor.say('b', 'ok', 59.25 + 2 * 1_440);
  expect(monitor.state.nextDueAt).toEqual(at(60 + 3 * 1_440));
});

test('a job that always begins early is missed at most once more after a run was missed', () => {
  const monitor = new Watched();
  monitor.say('a', 'ok', 0, crontab('*/5 * * * *'));
  monitor.look(6);
  for (const [index, minutes] of [8, 13, 18, 23].entries()) {
    monitor.say(`run ${index}`, 'ok', minutes);
    monitor.look(minutes + 3);
  }
  const missed = [...monitor.runs.values()].filter(({ status }) => status === 'missed');
  expect(missed.map(({ startedAt }) => startedAt)).toEqual([at(5), at(10)]);
});

test('of a run that is told when it has ended, its begin decides which one it was', () => {
  const monitor = new Watched();
  monitor.say('a', 'ok', 0, HOURLY);
  const checkIn = { status: 'ok', durationMs: 70 * 60_000, at: at(130), config: null } as const;
  expect(decideCheckIn(monitor.state, null, checkIn, monitor.last()).monitor.nextDueAt).toEqual(at(120));
});

test('a schedule that cannot be read expects nothing, nor does the one before it', () => {
  const monitor = new Watched();
  monitor.say('a', 'ok', 0, HOURLY);
  const sent = readMonitorConfig({ schedule: { type: 'crontab', value: '0 20 15W * *' }, checkin_margin: 3 });
  expect(sent).toMatchObject({ schedule: { type: 'unreadable', text: '0 20 15W * *' }, marginMinutes: 3 });
  monitor.say('b', 'ok', 30, sent);
  expect(monitor.state.nextDueAt).toBeNull();
  expect(monitor.look(10_000)).toMatchObject({ missedAt: null });
  monitor.say('c', 'ok', 120.1, HOURLY);
  expect(monitor.state.nextDueAt).toEqual(at(180));
});

test.each([
  [{ schedule: { type: 'crontab', value: '0 */5 * * * *' } }, '0 */5 * * * *'],
  [{ schedule: { type: 'interval', value: 0, unit: 'hour' } }, '0'],
  [{ schedule: { type: 'crontab', value: '0 4 * * *' }, timezone: 'Mars/Olympus' }, 'Mars/Olympus'],
  [{}, ''],
])('what cannot be read of %j is shown as it was sent', (sent, text) => {
  expect(readMonitorConfig(sent).schedule).toMatchObject({ type: 'unreadable', text });
});

test('numbers, units and statuses that a script writes as text are read', () => {
  const schedule = { type: 'interval', value: '2', unit: 'Hours' };
  expect(readMonitorConfig({ schedule, checkin_margin: '5', max_runtime: ' 45 ', recovery_threshold: '' })).toEqual({
    schedule: { type: 'interval', value: 2, unit: 'hour', timezone: 'UTC' },
    marginMinutes: 5,
    runtimeMinutes: 45,
    failureThreshold: 1,
    recoveryThreshold: 1,
  });
  const run = { status: ' In-Progress', duration: '1.5' };
  expect(readCheckInRequest('job', {}, Buffer.from(JSON.stringify(run)))).toMatchObject({
    status: 'in_progress',
    durationMs: 1_500,
  });
  expect(readCheckInRequest('job', { status: 'OK', duration: 'long' }, Buffer.alloc(0))).toMatchObject({
    status: 'ok',
    durationMs: null,
  });
});

test('what was missed while nobody looked counts as one', () => {
  const monitor = new Watched();
  monitor.say('a', 'ok', 0, { ...HOURLY, failureThreshold: 2 });
  expect(monitor.look(60 * 10 + 30)).toMatchObject({ missedAt: at(60), change: 'none' });
  expect(monitor.state.nextDueAt).toEqual(at(60 * 11));
});

test('a check-in that arrives late says nothing of what was due since', () => {
  const monitor = new Watched();
  monitor.say('a', 'ok', 0, HOURLY);
  expect(monitor.look(65)).toMatchObject({ missedAt: at(60) });
  monitor.say('b', 'ok', 30);
  expect(monitor.state.nextDueAt).toEqual(at(120));
});

test('the same line in another time zone is another schedule, also for a run that has begun', () => {
  const daily = (timezone: string): MonitorConfig =>
    config({ schedule: { type: 'crontab', value: '0 4 * * *' }, timezone });
  const monitor = new Watched();
  monitor.say('a', 'in_progress', 0, daily('UTC'));
  expect(monitor.state.nextDueAt).toEqual(at(16 * 60));
  monitor.say('a', 'ok', 1, daily('Asia/Tokyo'));
  expect(monitor.state.nextDueAt).toEqual(at(7 * 60));
});

test('an interval counts from the run before, and no schedule misses nothing', () => {
  const monitor = new Watched();
  monitor.say('a', 'in_progress', 0, config({ schedule: { type: 'interval', value: 2, unit: 'hour' } }));
  monitor.say('a', 'ok', 30);
  expect(monitor.state.nextDueAt).toEqual(at(150));
  const bare = new Watched();
  bare.say('a', 'ok', 0);
  expect(bare.look(100_000)).toMatchObject({ missedAt: null, change: 'none' });
  expect(bare.say('b', 'error', 100_001)).toBe('fails');
});

test.each(['day', 'week'])(
  'a pause of a %s is over by the wall clock and by elapsed time when the clocks change',
  (unit) => {
    const schedule = { type: 'interval', value: 1, unit, timezone: 'Europe/Berlin' } as MonitorSchedule;
    const hours = unit === 'day' ? 24 : 168;
    const [spring, autumn] = ['2027-03-27T20:00:00Z', '2027-10-30T20:00:00Z'].map((text) =>
      Temporal.Instant.from(text),
    );
    expect(nextDue(schedule, spring!)).toEqual(spring!.add({ hours }));
    expect(nextDue(schedule, autumn!)).toEqual(autumn!.add({ hours: hours + 1 }));
  },
);

test.each([
  [{}, 'is missing'],
  [{ schedule: { type: 'crontab', value: 'soon' } }, 'no crontab'],
  [{ schedule: { type: 'interval', value: 0, unit: 'hour' } }, 'whole number'],
  [{ schedule: { type: 'interval', value: 1, unit: 'fortnight' } }, 'none of'],
  [{ schedule: { type: 'crontab', value: '@daily' }, timezone: 'Mars/Olympus' }, 'not a time zone'],
])('the config %j is refused with a reason', (sent, reason) => {
  expect(parseMonitorConfig(sent)).toMatchObject({ faults: [{ message: expect.stringContaining(reason) }] });
});

type Step = readonly [kind: 'in_progress' | 'ok' | 'error' | 'look', run: number, minutes: number];

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.tuple(
    fc.constantFrom('in_progress', 'ok', 'error', 'look'),
    fc.integer({ min: 0, max: 5 }),
    fc.integer({ min: 0, max: 90 }),
  ),
  { maxLength: 40 },
);

test('it fails and recovers in turns, as a count by hand does, and says nothing twice', () => {
  const thresholds = fc.record({
    failureThreshold: fc.integer({ min: 1, max: 3 }),
    recoveryThreshold: fc.integer({ min: 1, max: 3 }),
  });
  fc.assert(
    fc.property(steps, thresholds, (story, limits) => {
      const monitor = new Watched();
      const wrong: string[] = [];
      let minutes = 0;
      let [isFailing, bad, good] = [false, 0, 0];
      const badRun = (): void => {
        [bad, good] = [bad + 1, 0];
        if (bad >= limits.failureThreshold) isFailing = true;
      };
      for (const [kind, run, waited] of story) {
        minutes += waited;
        if (kind === 'look') {
          const { missedAt, timedOut } = monitor.look(minutes);
          for (let n = timedOut + (missedAt === null ? 0 : 1); n > 0; n -= 1) badRun();
          // Whoever looks again at the same moment finds nothing.
          const again = monitor.look(minutes);
          if (again.missedAt !== null || again.timedOut > 0 || again.change !== 'none') wrong.push('found twice');
          const next = overdueFrom(monitor.state, monitor.running());
          if (next !== null && next.epochMilliseconds <= at(minutes).epochMilliseconds) wrong.push('due already');
          continue;
        }
        const before = monitor.runs.get(String(run))?.status;
        const change = monitor.say(String(run), kind, minutes, { ...HOURLY, ...limits });
        const counts = before === undefined || before === 'in_progress' || (before === 'timeout' && kind === 'ok');
        if (kind === 'error' && counts) badRun();
        if (kind === 'ok' && counts) {
          [bad, good] = [0, good + 1];
          const recovers = isFailing && good >= limits.recoveryThreshold;
          if ((change === 'recovers') !== recovers) wrong.push('recovers');
          if (recovers) isFailing = false;
        }
        expect(change === 'fails').toBe(kind === 'error' && counts && isFailing);
        expect(monitor.say(String(run), kind, minutes)).toBe('none');
      }
      expect(wrong).toEqual([]);
      expect(monitor.state.isFailing).toBe(isFailing);
    }),
  );
});

const DAILY = config({ schedule: { type: 'crontab', value: '0 4 * * *' }, checkin_margin: 20, max_runtime: 90 });

test('what a person has said counts whatever the job says, until the job decides again', () => {
  const statuses = fc.constantFrom('ok' as const, 'error' as const, 'in_progress' as const);
  const sent = fc.constantFrom(HOURLY, config({ schedule: { type: 'interval', value: 2, unit: 'hour' } }), null);
  fc.assert(
    fc.property(fc.array(fc.tuple(statuses, sent), { maxLength: 8 }), (story) => {
      const monitor = new Watched();
      monitor.say('first', 'ok', 0, HOURLY);
      monitor.state = editMonitor(monitor.state, DAILY, at(10));
      expect(monitor.state.nextDueAt).toEqual(Temporal.Instant.from('2027-06-02T04:00:00Z'));
      let last: MonitorConfig = HOURLY;
      for (const [step, [status, said]] of story.entries()) {
        monitor.say(`run ${step}`, status, 11 + step, said);
        last = said ?? last;
        expect(monitor.state).toMatchObject({ ...DAILY, sentConfig: last });
      }
      const handedBack = useJobSchedule(monitor.state, at(30));
      expect(handedBack).toMatchObject({ ...last, editedConfig: null });
      expect(handedBack.nextDueAt!.epochMilliseconds).toBeGreaterThan(at(30).epochMilliseconds);
    }),
  );
});

test('a schedule of before that was never noted as sent is kept as what the job said, and the same schedule stays due', () => {
  const old: MonitorState = { ...NEW_MONITOR, ...HOURLY, nextDueAt: at(60) };
  const edited = editMonitor(old, { ...HOURLY, marginMinutes: 50 }, at(61));
  expect(edited).toMatchObject({ sentConfig: HOURLY, marginMinutes: 50, nextDueAt: at(60) });
  expect(editMonitor(edited, DAILY, at(62)).sentConfig).toEqual(HOURLY);
  expect(editMonitor(NEW_MONITOR, DAILY, at(0)).sentConfig).toBeNull();
  expect(useJobSchedule(editMonitor(NEW_MONITOR, DAILY, at(0)), at(1))).toMatchObject({ ...DAILY, editedConfig: null });
});
