import { type Rotation, ROTATION_TYPES } from '#modules/schedules/decide/rotation.ts';
import { parseTimeZone } from '#modules/schedules/decide/time_zone.ts';
import type { Id } from '#kernel/ids.ts';
import { findFaults } from '#kernel/input_faults.ts';
import { Temporal } from '#kernel/time.ts';

/** A rotation as it is stored, whoever wrote it. */
export interface StoredRotation {
  readonly timezone: string;
  readonly rotationType: Rotation['rotationType'];
  readonly rotationConfig: unknown;
  readonly startAt: Temporal.Instant;
  readonly startWall: string | null;
}

const CONFIG = {
  type: 'object',
  properties: {
    userIds: { type: 'array', items: { type: 'string' } },
    shiftHours: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER },
  },
  required: ['userIds'],
};

/** Whether a stored rotation can be read. */
export function isRotation({ timezone, rotationType, rotationConfig, startAt, startWall }: StoredRotation): boolean {
  return (
    parseTimeZone(timezone, 'timezone').kind === 'ok' &&
    ROTATION_TYPES.includes(rotationType) &&
    (startWall === null || isWallTime(startWall, startAt)) &&
    findFaults(CONFIG, rotationConfig).length === 0
  );
}

/** Rotation used in place of one that cannot be read. */
export const EMPTY_ROTATION = {
  timezone: 'UTC',
  rotationType: 'weekly',
  rotationConfig: { userIds: [] },
  startWall: null,
} as const;

/** Reads a stored rotation. One that cannot be read puts nobody on call: a step that asks it passes on to the next. */
export function readRotation(stored: StoredRotation): Rotation {
  const { startAt } = stored;
  const { timezone, rotationType, startWall, rotationConfig } = isRotation(stored) ? stored : EMPTY_ROTATION;
  const { userIds, shiftHours = null } = rotationConfig as { userIds: Id<'user'>[]; shiftHours?: number };
  return { timezone, rotationType, userIds, shiftHours, startAt, startWall };
}

const DAY_MS = 86_400_000;

/** Whether it is the local date and time of a start somewhere. */
export function isWallTime(text: string, startAt: Temporal.Instant): boolean {
  try {
    const wall = Temporal.PlainDateTime.from(text, { overflow: 'reject' }).toZonedDateTime('UTC');
    return Math.abs(wall.epochMilliseconds - startAt.epochMilliseconds) <= 2 * DAY_MS;
  } catch {
    return false;
  }
}
