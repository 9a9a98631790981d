import { type Static, Type } from 'typebox';

import { STRICT, HoursOfWeek, Key, ZoneName } from '#modules/configuration/decide/file_fields.ts';
import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/limits.ts';

const StepInFile = Type.Object(
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
  { ...STRICT, description: 'whom one step reaches: all that it names together' },
);

/** Fields of a policy beside key, team and name. */
export const POLICY_FIELDS = {
  steps: Type.Array(StepInFile, { minItems: 1, maxItems: POLICY_STEPS_MAX }),
  repeat: Type.Optional(
    Type.Object(
      {
        times: Type.Integer({ minimum: 1, maximum: 9 }),
        pauseMinutes: Type.Integer({ minimum: 1, maximum: 1_440, description: 'after the last step' }),
      },
      { ...STRICT, description: 'the steps begin again so often' },
    ),
  ),
  hours: Type.Optional(
    Type.Object(
      {
        timezone: ZoneName,
        windows: HoursOfWeek,
        otherwise: Type.Optional(
          Type.Unsafe<string>({ ...Key, description: 'policy outside the hours; without it the incident waits' }),
        ),
        exemptFrom: Type.Optional(Type.Enum([...LEVELS], { description: 'from this severity on, hours do not count' })),
      },
      STRICT,
    ),
  ),
  roundRobin: Type.Optional(Type.Boolean({ description: 'the first step goes to one person after the other' })),
};

export type StepInFile = Static<typeof StepInFile>;
