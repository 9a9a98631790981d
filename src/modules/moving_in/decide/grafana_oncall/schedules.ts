import { addSchedule, type ReadOverride } from '#modules/moving_in/decide/add_schedule.ts';
import type { OnCallAnswers } from '#modules/moving_in/decide/grafana_oncall/collect.ts';
import { type OnCallShift, readShift, walkShifts } from '#modules/moving_in/decide/grafana_oncall/shifts.ts';
import { isZone, type Moved, type RenderedTimeline } from '#modules/moving_in/decide/moved.ts';
import { namedApart, type Pattern } from '#modules/moving_in/decide/pattern.ts';
import { compareTimelines, tile } from '#modules/moving_in/decide/proof.ts';
import { instantOf, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';
import { patternOfRecurrence } from '#modules/moving_in/decide/recurrence.ts';
import { renderedWindow } from '#modules/moving_in/decide/rendered_window.ts';
import { type Duty, layOver } from '#modules/moving_in/decide/timeline.ts';

/** Adds the schedules with their shifts: those of the highest level count, together. */
export function addOnCallSchedules(moved: Moved, answers: OnCallAnswers): void {
  const shifts = new Map(answers.shift.map(({ value }) => [textOf(value, 'id'), value]));
  const used = new Set<string>();
  for (const [id, schedule] of new Map(answers.schedule.map(({ value }) => [textOf(value, 'id'), value]))) {
    if (id !== '') addOne(moved, id, schedule, shifts, used, answers);
  }
  for (const [id, shift] of shifts) {
    if (used.has(id)) continue;
    moved.ledger.add(
      'shift',
      id,
      textOf(shift, 'name'),
      'refused',
      'No schedule that was read uses it.',
      'Nothing, if it is left over.',
    );
  }
}

function addOne(
  moved: Moved,
  id: string,
  schedule: RawObject,
  all: ReadonlyMap<string, RawObject>,
  used: Set<string>,
  answers: OnCallAnswers,
): void {
  const { ledger } = moved;
  const name = textOf(schedule, 'name');
  ledger.see('schedule', id, name);
  const listed = Array.isArray(schedule['shifts'])
    ? schedule['shifts'].filter((shift) => typeof shift === 'string')
    : [];
  const shiftIds = [
    ...new Set([
      ...listed,
      ...[...all].flatMap(([shiftId, shift]) => (textOf(shift, 'schedule') === id ? [shiftId] : [])),
    ]),
  ];
  for (const shiftId of shiftIds) {
    used.add(shiftId);
    ledger.see('shift', shiftId, `${name}: ${textOf(all.get(shiftId) ?? null, 'name') || shiftId}`);
  }
  const scheduleZone = textOf(schedule, 'time_zone') || 'UTC';
  const teamIds = [textOf(schedule, 'team_id')].filter((teamId) => teamId !== '');
  if (textOf(schedule, 'type') === 'ical') {
    ledger.judge(
      'schedule',
      id,
      'refused',
      'It follows an iCal feed, which is another tool.',
      'Save the feed as a file, and move it in with: tocsin move-in ical.',
    );
    for (const shiftId of shiftIds) ledger.judge('shift', shiftId, 'refused', 'Its schedule is refused.');
    return;
  }
  if (!isZone(scheduleZone)) {
    for (const shiftId of shiftIds)
      ledger.judge('shift', shiftId, 'refused', 'Its schedule is refused.', 'Mend the schedule, and read again.');
    addSchedule(moved, {
      id,
      name,
      zone: scheduleZone,
      teamIds,
      patterns: [],
      overrides: [],
      rendered: [],
      walk: () => [],
    });
    return;
  }
  const rendered = answers.rendered.flatMap((document) => renderedOf(moved, id, document) ?? []);
  const readAll = (defaultZone: string): OnCallShift[] =>
    shiftIds.flatMap((shiftId) => readShift(moved, shiftId, all.get(shiftId), defaultZone) ?? []);
  const [inOwnZone, inUtc] = [readAll(scheduleZone), readAll('UTC')];
  const isUtc = isReadInUtc(moved, schedule, rendered, inOwnZone, inUtc);
  const shifts = isUtc ? inUtc : inOwnZone;
  const repeating = shifts.filter((shift) => !shift.isOverride);
  const zones = [...new Set(repeating.map(({ zone }) => zone))];
  const zone = zones.length === 1 ? (zones[0] ?? scheduleZone) : scheduleZone;
  if (zone !== scheduleZone && zones.length === 1) {
    ledger.judge('schedule', id, 'compiled', `Its zone is ${zone}, which its shifts are in, and not ${scheduleZone}.`);
  }
  addSchedule(moved, {
    id,
    name,
    zone,
    teamIds,
    patterns:
      zones.length > 1
        ? { because: `its shifts are in ${zones.length} time zones` }
        : patternsOf(repeating, moved.since),
    overrides: shifts
      .filter((shift) => shift.isOverride)
      .map((shift): ReadOverride => ({ ...overrideOf(moved, shift), patterns: null })),
    rendered,
    walk: (from, to) => walkShifts(shifts, moved.clocks, from, to),
  });
  for (const shift of shifts.filter(({ isOverride }) => isOverride)) {
    const verdict = ledger.verdictOf('override', shift.id);
    ledger.judge('shift', shift.id, verdict ?? 'exact', 'It is an override.');
  }
}

function overrideOf(moved: Moved, shift: OnCallShift): Omit<ReadOverride, 'patterns'> {
  const clock = moved.clock(shift.zone);
  const { startWall, durationMs, groups } = shift.recurrence;
  return {
    id: shift.id,
    name: shift.name,
    from: clock.instantOf(startWall),
    to: clock.instantOf(startWall + durationMs),
    people: groups[0] ?? [],
  };
}

/**
 * Whether shifts without a zone are in UTC: the documentation says they are in the zone of the schedule, and schedules
 * of the web render them in UTC. A rendered timeline decides, where there is one.
 */
function isReadInUtc(
  moved: Moved,
  schedule: RawObject,
  rendered: readonly RenderedTimeline[],
  inOwnZone: readonly OnCallShift[],
  inUtc: readonly OnCallShift[],
): boolean {
  if (rendered.length === 0) return textOf(schedule, 'type') === 'web';
  const equalMinutes = (shifts: readonly OnCallShift[]): number => {
    let sum = 0;
    for (const window of rendered) {
      sum += compareTimelines(
        tile(window.stretches, window),
        walkShifts(shifts, moved.clocks, window.from, window.to),
        window,
      ).equal;
    }
    return sum;
  };
  const [byZone, byUtc] = [equalMinutes(inOwnZone), equalMinutes(inUtc)];
  return byZone === byUtc ? textOf(schedule, 'type') === 'web' : byUtc > byZone;
}

function patternsOf(shifts: readonly OnCallShift[], since: number): Pattern[] | { readonly because: string } {
  const patterns: Pattern[] = [];
  for (const { name, level, recurrence, isSingle, from, until } of shifts) {
    if (until !== null && until <= since) continue;
    if (isSingle) {
      const length = { ms: 7 * 86_400_000 };
      patterns.push({
        name,
        level,
        anchorWall: recurrence.startWall,
        length,
        turns: recurrence.groups,
        hours: null,
        from,
        until,
      });
      continue;
    }
    const turns = patternOfRecurrence(recurrence);
    if ('because' in turns) return turns;
    patterns.push({ name, level, ...turns, from, until });
  }
  return namedApart(patterns);
}

function renderedOf(
  moved: Moved,
  id: string,
  { path, values }: { readonly path: string; readonly values: readonly RawObject[] },
): RenderedTimeline | null {
  if (!path.includes(id.toLowerCase())) return null;
  const duties = values.flatMap((shift): Duty[] => {
    const [from, to] = [instantOf(textOf(shift, 'shift_start')), instantOf(textOf(shift, 'shift_end'))];
    if (from === null || to === null) return [];
    const address = textOf(shift, 'user_email');
    const key =
      moved.person(textOf(shift, 'user_pk')) ??
      moved.person(address) ??
      moved.personOrUnknown(textOf(shift, 'user_pk'), textOf(shift, 'user_username'));
    return [{ from, to, people: [key], level: 0 }];
  });
  const asked = renderedWindow(path, {}, []);
  // Shifts are listed whole: only between the first end and the last beginning is it sure that all are there.
  const safe = { from: Math.min(...duties.map(({ to }) => to)), to: Math.max(...duties.map(({ from }) => from)) };
  const window = asked ?? (duties.length === 0 ? null : safe);
  return window === null || window.to <= window.from
    ? null
    : { ...window, stretches: layOver(duties, window.from, window.to) };
}
