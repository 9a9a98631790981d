import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';

/** Shift, gap, or marked time of a schedule. */
export interface Selection {
  readonly scheduleId: string;
  /** Person on call; null: nobody, or not the same person all the time. */
  readonly userId: string | null;
  readonly source: 'rotation' | 'override' | 'gap' | 'marked';
  readonly since: number;
  readonly until: number | null;
}

/** Returns the parts of a row in order: shifts, and the gaps between them, within `[from, to)`. */
export function selectionsOf(
  { scheduleId, shifts, shownUntil }: ShownSchedule,
  from: number,
  to: number,
): readonly Selection[] {
  const found: Selection[] = [];
  const end = shownUntil === null ? to : Math.min(to, Date.parse(shownUntil));
  const addGap = (since: number, until: number): void => {
    if (since < until) found.push({ scheduleId, userId: null, source: 'gap', since, until });
  };
  let at = from;
  for (const shift of shifts) {
    const since = Date.parse(shift.since);
    const until = shift.until === null ? null : Date.parse(shift.until);
    if (since >= end || (until !== null && until <= from)) continue;
    addGap(at, Math.min(since, end));
    found.push({ scheduleId, userId: shift.userId, source: shift.source, since, until });
    at = until ?? end;
  }
  addGap(at, end);
  return found;
}
