import { type Static, Type } from 'typebox';

import { StrictObject } from '#kernel/action.ts';
import { ROUTE_CONDITIONS_MAX, ROUTE_OUTCOMES } from '#modules/alerts/decide/route.ts';
import { ALERT_PROTOCOL_NAMES } from '#modules/alerts/decide/tools.ts';
import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import { E164_PATTERN } from '#modules/contacts/decide/e164.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/policy_details.ts';

/** Objects of a file are closed, as those of bodies are. */
export { StrictObject };

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

const HoursOfWeek = Type.Array(
  StrictObject({
    fromDay: Type.Integer({ minimum: 1, maximum: 7, description: '1 is Monday, 7 Sunday' }),
    from: Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description: 'a time of day such as 09:00' }),
    toDay: Type.Integer({ minimum: 1, maximum: 7 }),
    to: Type.String({
      pattern: '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$',
      description: 'a time of day such as 17:00, at most 24:00',
    }),
  }),
  { maxItems: 50, description: 'windows of the week by the wall clock; one may end in the next week' },
);

export type HoursInFile = Static<typeof HoursOfWeek>;

export const LAYER_FIELDS = StrictObject({
  name: Name,
  rotation: StrictObject(
    { every: Type.Integer({ minimum: 1, maximum: 100_000 }), unit: Type.Enum(['hours', 'days', 'weeks', 'months']) },
    { description: 'length of a turn, by the wall clock of the schedule' },
  ),
  turns: Type.Array(
    StrictObject({
      people: Type.Array(Key, { maxItems: 100, description: 'on call together; none: nobody in this turn' }),
    }),
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
    StrictObject({
      calendar: Key,
      layer: Type.Enum(['on', 'off'], { description: 'on: only on the days of the calendar; off: not on them' }),
    }),
  ),
});

export type LayerInFile = Static<typeof LAYER_FIELDS>;

const StepInFile = StrictObject(
  {
    afterMinutes: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'after the trigger of the incident, not after the step before',
    }),
    channels: Type.Array(Type.Enum([...CHANNELS]), { minItems: 1, maxItems: 20 }),
    people: Type.Optional(Type.Array(Key, { maxItems: 1_000 })),
    onCall: Type.Optional(Type.Boolean({ description: 'also whoever is on call in the team of the policy' })),
    schedules: Type.Optional(
      Type.Array(Key, { maxItems: 100, description: 'also whoever is on call in these schedules' }),
    ),
    next: Type.Optional(Type.Array(Key, { maxItems: 100, description: 'also whose turn follows in these schedules' })),
    teams: Type.Optional(Type.Array(Key, { maxItems: 100, description: 'also every member of these teams' })),
    policy: Type.Optional(Type.Unsafe<string>({ ...Key, description: 'also by the steps of this policy' })),
    everybody: Type.Optional(Type.Boolean({ description: 'each person has to acknowledge' })),
  },
  { description: 'whom one step reaches: all that it names together' },
);

/** Fields of a policy beside key, team and name. */
export const POLICY_FIELDS = {
  steps: Type.Array(StepInFile, { minItems: 1, maxItems: POLICY_STEPS_MAX }),
  repeat: Type.Optional(
    StrictObject(
      {
        times: Type.Integer({ minimum: 1, maximum: 9 }),
        pauseMinutes: Type.Integer({ minimum: 1, maximum: 1_440, description: 'after the last step' }),
      },
      { description: 'the steps begin again so often' },
    ),
  ),
  hours: Type.Optional(
    StrictObject({
      timezone: ZoneName,
      windows: HoursOfWeek,
      otherwise: Type.Optional(
        Type.Unsafe<string>({ ...Key, description: 'policy outside the hours; without it the incident waits' }),
      ),
      exemptFrom: Type.Optional(Type.Enum([...LEVELS], { description: 'from this severity on, hours do not count' })),
    }),
  ),
  roundRobin: Type.Optional(Type.Boolean({ description: 'the first step goes to one person after the other' })),
};

export type StepInFile = Static<typeof StepInFile>;

const Value = Type.String({ maxLength: 500 });

const Condition = StrictObject({
  kind: Type.Enum(['severity', 'source', 'detail']),
  atLeast: Type.Optional(Type.Enum([...LEVELS], { description: 'of severity' })),
  protocol: Type.Optional(Type.Enum([...ALERT_PROTOCOL_NAMES], { description: 'of source' })),
  name: Type.Optional(Type.String({ maxLength: 100, description: 'of source: which of several' })),
  path: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'of detail: a path such as labels.team' }),
  ),
  equals: Type.Optional(Value),
  matches: Type.Optional(Value),
});

/** One route of a service's alerts. */
export const ROUTE = StrictObject({
  conditions: Type.Optional(
    Type.Array(Condition, { maxItems: ROUTE_CONDITIONS_MAX, description: 'all have to be true' }),
  ),
  outcome: Type.Enum([...ROUTE_OUTCOMES]),
  policy: Type.Optional(Key),
  pagesOnRise: Type.Optional(Type.Boolean({ description: 'an alert that becomes more severe pages anew' })),
});

export type RouteInFile = Static<typeof ROUTE>;
