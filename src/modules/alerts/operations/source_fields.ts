import { Type } from 'typebox';

import { STRICT, nullable } from '#actions/fields.ts';
import {
  MAPPED_PATH_LENGTH_MAX,
  MAPPED_PATHS_MAX,
  STATUS_VALUE_LENGTH_MAX,
  STATUS_VALUES_MAX,
  type WebhookMapping,
} from '#modules/alerts/decide/mapping.ts';
import { LEASE_MINUTES_MAX, REPAGE_MINUTES_MAX, REPAGE_MINUTES_MIN } from '#modules/alerts/decide/source_settings.ts';
import { GROUP_MINUTES_MAX } from '#modules/rules/decide/rule_settings.ts';

const Paths = Type.Array(Type.String({ minLength: 1, maxLength: MAPPED_PATH_LENGTH_MAX }), {
  maxItems: MAPPED_PATHS_MAX,
});
const Values = Type.Array(Type.String({ maxLength: STATUS_VALUE_LENGTH_MAX }), { maxItems: STATUS_VALUES_MAX });

const Mapping = Type.Object(
  {
    title: Paths,
    key: Paths,
    status: nullable(
      Type.Object(
        {
          path: Type.String({ minLength: 1, maxLength: MAPPED_PATH_LENGTH_MAX }),
          resolved: Values,
          acknowledged: Type.Optional(Values),
          triggered: Type.Optional(Values),
        },
        STRICT,
      ),
    ),
    severity: Paths,
    link: Paths,
    at: Paths,
  },
  {
    ...STRICT,
    description:
      'where the parts of an alert stand in any JSON, as `alerts.0.title`; null: as the template of its name says, or by usual names',
  },
);

/** Settings of a source. */
export const SOURCE_SETTING_FIELDS = {
  incidentsPer: Type.Enum(['group', 'alert'], {
    description: 'group: alerts that their tool calls one group share an incident; alert: each has its own',
  }),
  leaseMinutes: nullable(
    Type.Integer({
      minimum: 1,
      maximum: LEASE_MINUTES_MAX,
      description: 'an alert that nobody repeats for so long has no word; null: as the tool says, or as was learnt',
    }),
  ),
  onSilence: Type.Enum(['keep', 'resolve'], { description: 'what becomes of an alert without word' }),
  mapping: Type.Unsafe<WebhookMapping | null>(nullable(Mapping)),
  groupMinutes: Type.Integer({
    minimum: 0,
    maximum: GROUP_MINUTES_MAX,
    description: 'what opens so soon after another incident of the service is linked to it and does not page beside it',
  }),
};

const RepageMinutes = nullable(
  Type.Integer({
    minimum: REPAGE_MINUTES_MIN,
    maximum: REPAGE_MINUTES_MAX,
    description:
      'an acknowledged incident that is still open after so long pages again from its first step; null: never',
  }),
);

/** Settings that an input may leave out: then they stay as they are. */
export const OPTIONAL_SOURCE_FIELDS = { repageMinutes: Type.Optional(RepageMinutes) };

export const SourceSettingsView = Type.Object({ ...SOURCE_SETTING_FIELDS, repageMinutes: RepageMinutes });
