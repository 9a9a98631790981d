export const TIMELINE_VIEWS = ['week', 'two_weeks', 'month', 'quarter'] as const;

export type TimelineView = (typeof TIMELINE_VIEWS)[number];

/** Filter of the timeline in an address. Absent parameters have their default: two weeks, from this week on. */
export interface TimelineFilter {
  readonly view?: TimelineView;
  /** Day of the range, as `2026-11-23`; absent: today. */
  readonly day?: string;
  readonly team?: string;
  /** Person whose schedules are shown. */
  readonly person?: string;
  /** Person to put on call: the page opens with the dialog. */
  readonly put?: string;
}

export function readTimelineFilter(search: Record<string, unknown>): TimelineFilter {
  const view = TIMELINE_VIEWS.find((candidate) => candidate === search['view']);
  const { day, team, person, put } = search;
  return {
    ...(view !== undefined && view !== 'two_weeks' && { view }),
    ...(typeof day === 'string' && { day }),
    ...(typeof team === 'string' && team !== '' && { team }),
    ...(typeof person === 'string' && person !== '' && { person }),
    ...(typeof put === 'string' && put !== '' && { put }),
  };
}
