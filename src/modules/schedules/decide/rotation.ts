import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { FIRST_LAYER, type Layer, type TurnLength } from '#modules/schedules/decide/layer.ts';

type Instant = Temporal.Instant;
type UserId = Id<'user'>;

export const ROTATION_TYPES = ['daily', 'weekly'] as const;

export type RotationType = (typeof ROTATION_TYPES)[number];

const TURN_LENGTHS: Record<RotationType, TurnLength> = {
  daily: { every: 1, unit: 'days' },
  weekly: { every: 1, unit: 'weeks' },
};

/** The contract's rotation: the first layer of a schedule. */
export interface Rotation {
  /** IANA name of the time zone. */
  readonly timezone: string;
  readonly rotationType: RotationType;
  /** People in the order of their turns; somebody listed twice has two turns. If empty, nobody is on call. */
  readonly userIds: readonly UserId[];
  /** Length of a turn in hours of the wall clock, 1 or more, in place of the usual one; null or less has no effect. */
  readonly shiftHours: number | null;
  readonly startAt: Instant;
  /** Local date and time that the clocks skipped at `startAt`: hand-overs keep it. Null or absent if they did not. */
  readonly startWall?: string | null;
}

/** Returns the length of a turn. */
function turnLengthOf({ shiftHours, rotationType }: Pick<Rotation, 'shiftHours' | 'rotationType'>): TurnLength {
  return shiftHours !== null && shiftHours >= 1 ? { every: shiftHours, unit: 'hours' } : TURN_LENGTHS[rotationType];
}

/** Returns the rotation as the layer that it is. */
export function layerOfRotation(rotation: Omit<Rotation, 'timezone'>): Layer {
  const { userIds, startAt, startWall = null } = rotation;
  return {
    id: FIRST_LAYER,
    name: 'Rotation',
    rotation: turnLengthOf(rotation),
    turns: userIds.map((userId) => ({ userIds: [userId] })),
    startsAt: startAt,
    startWall,
    endsAt: null,
    hours: null,
    holidays: null,
  };
}
