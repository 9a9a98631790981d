import { type Static, type TObject, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { STRICT, FreeText } from '#actions/fields.ts';
import { RotationConfigInput, toRotationConfig } from '#modules/schedules/operations/rotation_config.ts';
import { RotationTypeName } from '#modules/schedules/view.ts';
import { parseInstant, skippedWallOf } from '#modules/schedules/decide/parse_instant.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { layerOfRotation } from '#modules/schedules/decide/rotation.ts';
import { startForHandOver } from '#modules/schedules/decide/rotation_start.ts';
import { parseTimeZone } from '#modules/schedules/decide/time_zone.ts';
import { invalidInput } from '#kernel/errors.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import type { NewSchedule } from '#modules/schedules/store/schedule_store.ts';

/** Fields of the rotation as a form of the console has them, all of them. */
export const ROTATION_FIELDS = {
  timezone: FreeText,
  rotationType: RotationTypeName,
  rotationConfig: RotationConfigInput,
  handOver: Type.Optional(
    Type.Object(
      {
        at: Type.String({ maxLength: 64, description: 'RFC 3339, or a local date-time in timezone' }),
        position: Type.Integer({
          minimum: 0,
          maximum: 999,
          description: 'who takes over then, by the index in rotationConfig.userIds',
        }),
      },
      { ...STRICT, description: 'turns are counted so that this is a hand-over; when left out, they stay as they are' },
    ),
  ),
};

type RotationInput = Static<TObject<typeof ROTATION_FIELDS>>;

/** Returns the rotation of a new schedule that this form describes. */
export async function planRotation(
  { timezone, rotationType, rotationConfig, handOver }: RotationInput,
  context: Pick<ActionContext, 'caller' | 'stores' | 'now'>,
): Promise<Omit<NewSchedule, 'name'>> {
  const zone = unwrap(parseTimeZone(timezone, 'timezone'));
  const at = handOver && unwrap(parseInstant(handOver.at, zone, 'handOver.at'));
  const config = await toRotationConfig(rotationConfig, context);
  const rotation = { timezone: zone, rotationType, rotationConfig: config };
  if (handOver === undefined || at === undefined) return { ...rotation, startAt: context.now, startWall: null };
  const { userIds, shiftHours = null } = config;
  if (handOver.position > 0 && handOver.position >= userIds.length) {
    throw invalidInput([{ path: 'handOver.position', message: 'must be the index of one of the people' }]);
  }
  const layer = layerOfRotation({ rotationType, userIds, shiftHours, startAt: at });
  const { position } = handOver;
  const startAt = startForHandOver(layer, new ZoneClock(zone), { at, position }, null);
  if (startAt === null) {
    const message = 'is too many turns after the first person: the rotation would begin before 1970';
    throw invalidInput([{ path: 'handOver.position', message }]);
  }
  const startWall = startAt.equals(at) ? skippedWallOf(handOver.at, zone) : null;
  return { ...rotation, startAt, startWall };
}
