import { Type } from 'typebox';

import {
  CRONTAB_LENGTH_MAX,
  INTERVAL_MAX,
  INTERVAL_UNITS,
  MINUTES_MAX,
  THRESHOLD_MAX,
} from '#modules/monitors/decide/schedule_limits.ts';

/** Schedule of a job's runs, as a person enters it. */
export const SCHEDULE_FIELDS = {
  scheduleType: Type.Enum(['crontab', 'interval']),
  crontab: Type.Optional(Type.String({ maxLength: CRONTAB_LENGTH_MAX, description: 'five fields, or such as @daily' })),
  every: Type.Optional(
    Type.Integer({ minimum: 1, maximum: INTERVAL_MAX, description: 'of an interval: so many units' }),
  ),
  unit: Type.Optional(Type.Enum([...INTERVAL_UNITS])),
  timezone: Type.String({ maxLength: 100 }),
};

const Minutes = Type.Integer({ minimum: 1, maximum: MINUTES_MAX });
const Threshold = Type.Integer({ minimum: 1, maximum: THRESHOLD_MAX });

/** Other expectations for the runs. */
export const EXPECTATION_FIELDS = {
  marginMinutes: Minutes,
  runtimeMinutes: Minutes,
  failureThreshold: Threshold,
  recoveryThreshold: Threshold,
};

export const SCHEDULE_EXAMPLE = {
  scheduleType: 'crontab',
  crontab: '0 4 * * *',
  every: 1,
  unit: 'day',
  timezone: 'Europe/Amsterdam',
} as const;
