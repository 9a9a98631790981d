import { type Static, Type } from 'typebox';

import { STRICT, HoursOfWeek, Key, Moment, Name } from '#modules/configuration/decide/file_fields.ts';

/** One layer of a schedule. */
export const LAYER_FIELDS = Type.Object(
  {
    name: Name,
    rotation: Type.Object(
      {
        every: Type.Integer({ minimum: 1, maximum: 100_000 }),
        unit: Type.Enum(['hours', 'days', 'weeks', 'months']),
      },
      { ...STRICT, description: 'length of a turn, by the wall clock of the schedule' },
    ),
    turns: Type.Array(
      Type.Object(
        { people: Type.Array(Key, { maxItems: 100, description: 'on call together; none: nobody in this turn' }) },
        STRICT,
      ),
      { maxItems: 1_000, description: 'in order, again and again from startsAt' },
    ),
    startsAt: Moment,
    activeFrom: Type.Optional(
      Type.Unsafe<string>({
        ...Moment,
        description: 'before it the layer is silent; turns count from startsAt all the same',
      }),
    ),
    endsAt: Type.Optional(Moment),
    hours: Type.Optional(HoursOfWeek),
    holidays: Type.Optional(
      Type.Object(
        {
          calendar: Key,
          layer: Type.Enum(['on', 'off'], { description: 'on: only on the days of the calendar; off: not on them' }),
        },
        STRICT,
      ),
    ),
  },
  STRICT,
);

export type LayerInFile = Static<typeof LAYER_FIELDS>;
