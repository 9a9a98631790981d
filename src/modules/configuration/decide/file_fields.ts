import { type Static, Type } from 'typebox';

import { E164_PATTERN } from '#modules/contacts/decide/e164.ts';

export const STRICT = { additionalProperties: false } as const;

export const KEY_LENGTH_MAX = 100;

/** Key of a resource, which the file chooses. */
export const Key = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
  maxLength: KEY_LENGTH_MAX,
  description: 'a key of letters, digits, ".", "_" and "-"',
});

export const Name = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: String.raw`\S`,
  description: 'a name that is not blank',
});

export const ShortText = Type.String({ maxLength: 4_000 });

export const ZoneName = Type.String({ maxLength: 100, description: 'IANA time zone, such as Europe/Amsterdam' });

export const Moment = Type.String({
  maxLength: 64,
  description: 'RFC 3339, or a local date-time in the time zone of the resource',
});

export const Phone = Type.String({
  pattern: E164_PATTERN,
  description: 'a phone number in E.164 form, such as +31612345678',
});

export const HoursOfWeek = Type.Array(
  Type.Object(
    {
      fromDay: Type.Integer({ minimum: 1, maximum: 7, description: '1 is Monday, 7 Sunday' }),
      from: Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description: 'a time of day such as 09:00' }),
      toDay: Type.Integer({ minimum: 1, maximum: 7 }),
      to: Type.String({
        pattern: '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$',
        description: 'a time of day such as 17:00, at most 24:00',
      }),
    },
    STRICT,
  ),
  { maxItems: 50, description: 'windows of the week by the wall clock; one may end in the next week' },
);

export type HoursInFile = Static<typeof HoursOfWeek>;
