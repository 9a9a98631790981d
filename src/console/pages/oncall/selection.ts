import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';

/** Shift, gap, or marked time of a schedule. */
export interface Selection {
  readonly scheduleId: string;
  /** Person on call; null: nobody, or not the same person all the time. */
  readonly userId: string | null;
  /** People on call at the same time; absent: nobody else. */
  readonly others?: readonly string[];
  readonly source: 'rotation' | 'override' | 'gap' | 'marked';
  readonly since: number;
  readonly until: number | null;
}

/** Returns the parts of a row in order: shifts, and the gaps between them, within `[from, to)`. */
export function selectionsOf(
  { scheduleId, shifts, shownUntil }: Pick<ShownSchedule, 'scheduleId' | 'shifts' | 'shownUntil'>,
  from: number,
  to: number,
): readonly Selection[] {
  const selections: Selection[] = [];
  const end = shownUntil === null ? to : Math.min(to, Date.parse(shownUntil));
  const addGap = (since: number, until: number): void => {
    if (since < until) selections.push({ scheduleId, userId: null, source: 'gap', since, until });
  };
  let at = from;
  for (const shift of shifts) {
    const since = Date.parse(shift.since);
    const until = shift.until === null ? null : Date.parse(shift.until);
    if (since >= end || (until !== null && until <= from)) continue;
    addGap(at, Math.min(since, end));
    const [userId = null, ...others] = shift.userIds;
    selections.push({ scheduleId, userId, others, source: shift.source, since, until });
    at = until ?? end;
  }
  addGap(at, end);
  return selections;
}

/** Returns the names of everybody on call, with "You" for the viewer. */
export function namesOf(
  { userId, others = [] }: Pick<Selection, 'userId' | 'others'>,
  nameOf: (userId: string | null) => string,
  viewer: string,
): string {
  return [userId, ...others].map((id) => (id === viewer ? 'You' : nameOf(id))).join(', ');
}
