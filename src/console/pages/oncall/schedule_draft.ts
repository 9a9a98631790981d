import type { InputOf } from '#console/api/actions.ts';
import { toLocalField } from '#console/pages/oncall/local_time.ts';
import { viewerZone } from '#console/pages/oncall/span_text.ts';

/** Turn of a rotation; with several people, all are on call at once. Somebody may have several turns. */
export interface TurnDraft {
  readonly key: number;
  readonly userIds: readonly string[];
}

export interface ScheduleDraft {
  readonly teamId: string;
  /** Name of the team that is created with the schedule, if there is none yet. */
  readonly teamName: string;
  readonly name: string;
  readonly timezone: string;
  readonly turns: readonly TurnDraft[];
  /** Whether people who take turns become members of the team. */
  readonly joinTeam: boolean;
  /** Length of a turn, in hours of the wall clock, as entered. */
  readonly hours: string;
  /** Beginning of the first turn, as a local time of the zone. */
  readonly handOverAt: string;
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
    joinTeam: true,
    hours: '168',
    handOverAt: toLocalField(last.getTime()),
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

/** Converts the draft to the request. */
export function rotationInput(draft: ScheduleDraft): RotationInput {
  const { timezone, turns, hours, handOverAt } = draft;
  return {
    timezone: timezone.trim(),
    rotationType: hours === '24' ? 'daily' : 'weekly',
    rotationConfig: {
      userIds: turns.flatMap(({ userIds }) => userIds),
      ...(hours !== '24' && hours !== '168' && { shiftHours: Number(hours) }),
    },
    handOver: { at: handOverAt, position: 0 },
  };
}

/** Adds a person: a turn of their own, or to the last turn. */
export function withPersonIn(turns: readonly TurnDraft[], userId: string, together: boolean): readonly TurnDraft[] {
  const last = turns.at(-1);
  if (together && last !== undefined && !last.userIds.includes(userId)) {
    return turns.with(turns.length - 1, { ...last, userIds: [...last.userIds, userId] });
  }
  return [...turns, { key: nextKey(turns), userIds: [userId] }];
}

/** Adds a turn of nobody, in which the layers below decide. */
export function withNobody(turns: readonly TurnDraft[]): readonly TurnDraft[] {
  return [...turns, { key: nextKey(turns), userIds: [] }];
}

function nextKey(turns: readonly TurnDraft[]): number {
  return 1 + Math.max(-1, ...turns.map(({ key }) => key));
}

/** Moves a turn by one place. */
export function withTurnMoved(turns: readonly TurnDraft[], index: number, by: 1 | -1): readonly TurnDraft[] {
  const [moved, passed] = [turns[index], turns[index + by]];
  return moved === undefined || passed === undefined ? turns : turns.with(index, passed).with(index + by, moved);
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

export function isZone(text: string): boolean {
  try {
    return text.trim() !== '' && new Intl.DateTimeFormat('en', { timeZone: text.trim() }).resolvedOptions() !== null;
  } catch {
    return false;
  }
}

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
  joinTeam: 'Members of the team',
  hours: 'Turns change',
  handOverAt: 'First turn begins',
};
