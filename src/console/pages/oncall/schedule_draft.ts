import type { InputOf } from '#console/api/actions.ts';
import { toLocalField } from '#console/pages/oncall/local_time.ts';
import { viewerZone } from '#console/pages/oncall/span_text.ts';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';

/** Turn of a round; somebody may have several. */
export interface Turn {
  readonly key: number;
  readonly userId: string;
}

/** Schedule as its form holds it. */
export interface ScheduleDraft {
  readonly teamId: string;
  /** Name of the team that is created with the schedule, if there is none yet. */
  readonly teamName: string;
  readonly name: string;
  readonly timezone: string;
  readonly turns: readonly Turn[];
  /** Length of a turn, in hours of the wall clock, as entered. */
  readonly hours: string;
  /** Turn that is running; null if none is. */
  readonly running: number | null;
  /** Hand-over from which turns are counted, as a local time of the zone. */
  readonly handOverAt: string;
  /** Turn that begins at the hand-over; null: the one after the turn that is running. */
  readonly handOverTo: number | null;
}

type RotationInput = Pick<InputOf<'preview_rotation'>, 'timezone' | 'rotationType' | 'rotationConfig' | 'handOver'>;

const HOUR_OF_HAND_OVER = 9;

/** Returns a new draft: somebody is on call at once, and hands over on Mondays. */
export function newDraft(now: number, teamId: string): ScheduleDraft {
  const date = new Date(now);
  const [year, month] = [date.getFullYear(), date.getMonth()];
  const monday = date.getDate() - ((date.getDay() + 6) % 7);
  const thisWeek = new Date(year, month, monday, HOUR_OF_HAND_OVER);
  const last = thisWeek.getTime() <= now ? thisWeek : new Date(year, month, monday - 7, HOUR_OF_HAND_OVER);
  return {
    teamId,
    teamName: '',
    name: '',
    timezone: viewerZone(),
    turns: [],
    hours: '168',
    running: null,
    handOverAt: toLocalField(last.getTime()),
    handOverTo: null,
  };
}

export function draftOf(schedule: ShownSchedule): ScheduleDraft {
  const { teamId, name, timezone, rotationType, rotationConfig, handOver, startAt } = schedule;
  const { userIds, shiftHours = 0 } = rotationConfig;
  return {
    teamId,
    teamName: '',
    name,
    timezone,
    turns: userIds.map((userId, key) => ({ key, userId })),
    hours: String(shiftHours >= 1 ? shiftHours : rotationType === 'daily' ? 24 : 168),
    running:
      handOver === null || handOver.at === startAt
        ? null
        : userIds.length === 0
          ? null
          : (handOver.position + userIds.length - 1) % userIds.length,
    handOverAt: toZoneField(Date.parse(handOver?.at ?? startAt), timezone),
    handOverTo: null,
  };
}

/** Converts to the value of a `datetime-local` field, in a named zone. */
export function toZoneField(at: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(at);
  const part = (wanted: Intl.DateTimeFormatPartTypes) => parts.find(({ type }) => type === wanted)?.value ?? '';
  return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}`;
}

/** Whether two rotations are the same, whatever their names. */
export function hasSameRotation(a: ScheduleDraft, b: ScheduleDraft): boolean {
  return rotationText(a) === rotationText(b);
}

function rotationText(draft: ScheduleDraft): string {
  const { timezone, turns, hours, handOverAt } = draft;
  const people = turns.map(({ userId }) => userId);
  return JSON.stringify([timezone, people, hours, handOverAt, placeOfHandOver(draft)]);
}

/**
 * Converts the draft to the request. Turns of a schedule whose rotation was not touched stay as they are; otherwise
 * they are counted from the hand-over, whose exact time is kept as long as nobody has changed the field.
 */
export function rotationInput(draft: ScheduleDraft, schedule: ShownSchedule | null): RotationInput {
  const { timezone, turns, hours, handOverAt } = draft;
  const rotation: RotationInput = {
    timezone: timezone.trim(),
    rotationType: hours === '24' ? 'daily' : 'weekly',
    rotationConfig: {
      userIds: turns.map(({ userId }) => userId),
      ...(hours !== '24' && hours !== '168' && { shiftHours: Number(hours) }),
    },
  };
  if (schedule !== null && hasSameRotation(draft, draftOf(schedule))) {
    return { ...rotation, rotationType: schedule.rotationType, rotationConfig: schedule.rotationConfig };
  }
  const isSameTime =
    schedule?.handOver != null && schedule.timezone === timezone && draftOf(schedule).handOverAt === handOverAt;
  const at = isSameTime && schedule?.handOver != null ? schedule.handOver.at : handOverAt;
  return { ...rotation, handOver: { at, position: placeOfHandOver(draft) } };
}

/** Returns the index of the turn that begins at the hand-over. */
export function placeOfHandOver({ turns, running, handOverTo }: ScheduleDraft): number {
  const chosen = turns.findIndex(({ key }) => key === handOverTo);
  if (chosen !== -1) return chosen;
  return turns.length === 0 ? 0 : (turns.findIndex(({ key }) => key === running) + 1) % turns.length;
}

/** Removes a turn. If it was running, or was the next one, the turn after it becomes the next. */
export function withoutTurn(draft: ScheduleDraft, index: number): ScheduleDraft {
  const turns = draft.turns.toSpliced(index, 1);
  const removed = draft.turns[index]?.key ?? null;
  const isNeeded = removed !== null && (removed === draft.running || removed === draft.handOverTo);
  if (!isNeeded) return { ...draft, turns };
  return { ...draft, turns, handOverTo: turns[index % Math.max(1, turns.length)]?.key ?? null };
}

export function withPerson(draft: ScheduleDraft, userId: string): ScheduleDraft {
  const key = 1 + Math.max(-1, ...draft.turns.map((turn) => turn.key));
  return { ...draft, turns: [...draft.turns, { key, userId }] };
}

/** Moves a turn by one place. */
export function withMoved(draft: ScheduleDraft, index: number, by: 1 | -1): ScheduleDraft {
  const other = index + by;
  const [moved, passed] = [draft.turns[index], draft.turns[other]];
  if (moved === undefined || passed === undefined) return draft;
  return { ...draft, turns: draft.turns.with(index, passed).with(other, moved) };
}

const HOURS_MAX = 8_784;

/** Returns the faults of a draft by field; empty if there are none. */
export function draftFaults({
  name,
  timezone,
  hours,
  handOverAt,
  turns,
}: ScheduleDraft): Readonly<Record<string, string>> {
  return {
    ...(name.trim() === '' && { name: 'Enter a name.' }),
    ...(!isZone(timezone) && { timezone: 'Choose a time zone, for example Europe/Amsterdam.' }),
    ...(turns.length === 0 && { turns: 'Add at least one person.' }),
    ...(!(/^\d{1,5}$/.test(hours) && Number(hours) >= 1 && Number(hours) <= HOURS_MAX) && {
      hours: `Enter whole hours, from 1 to ${HOURS_MAX.toLocaleString()}.`,
    }),
    ...(handOverAt === '' && { handOverAt: 'Enter a day and a time.' }),
  };
}

function isZone(text: string): boolean {
  try {
    return text.trim() !== '' && new Intl.DateTimeFormat('en', { timeZone: text.trim() }).resolvedOptions() !== null;
  } catch {
    return false;
  }
}

/** Returns the length of a turn as text. */
export function lengthText(hours: number): string {
  if (hours === 24) return 'every day';
  if (hours === 168) return 'every week';
  if (hours % 168 === 0) return `every ${hours / 168} weeks`;
  if (hours % 24 === 0) return `every ${hours / 24} days`;
  return hours === 1 ? 'every hour' : `every ${hours} hours`;
}

export const SCHEDULE_LABELS: Record<keyof ScheduleDraft, string> = {
  teamId: 'Team',
  teamName: 'Team',
  name: 'Name',
  timezone: 'Time zone',
  turns: 'Who takes turns',
  running: 'Whose turn it is',
  hours: 'Turns change',
  handOverAt: 'Next hand-over',
  handOverTo: 'Who takes over then',
};
