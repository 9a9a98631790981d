import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, StrictObject, Timestamp } from '#actions/fields.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { replayExceptions } from '#modules/rules/decide/replay_exceptions.ts';
import { isOnRate } from '#modules/rules/decide/kind_settings.ts';
import { parseRuleSettings, settingsOf } from '#modules/rules/decide/rule_settings.ts';
import { RuleSettingsInput } from '#modules/rules/view.ts';
import { invalidInput } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';

const DAYS_MAX = 30;
const GROUPS_MAX = 5_000;
const SHOWN_MAX = 20;

export const replayExceptionRule = defineAction({
  name: 'replay_exception_rule',
  consoleOnly: true,
  summary:
    'Say which incidents a rule on new exceptions would have opened in the last days: one for each exception that began, and for each return after it was resolved, judged by the first stored event of the exception within them. Storms and limits on incidents would have made them fewer.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    serviceId: IdText,
    minSeverity: Type.Enum([...LEVELS]),
    settings: Type.Optional(RuleSettingsInput),
    days: Type.Integer({ minimum: 1, maximum: DAYS_MAX }),
  }),
  result: Type.Object({
    since: Timestamp,
    incidentCount: Type.Integer(),
    incidents: Type.Array(
      Type.Object({
        groupId: IdText,
        title: Type.String(),
        outcome: Type.Enum(['new', 'regression']),
        severity: Type.Enum([...LEVELS]),
        at: Timestamp,
      }),
      { description: `the newest ${SHOWN_MAX}` },
    ),
    isCut: Type.Boolean({ description: `whether there were more than ${GROUPS_MAX} exceptions to judge` }),
  }),
  example: {
    serviceId: EXAMPLE_IDS.serviceId,
    minSeverity: 'error',
    settings: { inEnvironment: 'prod*', withTag: 'customer:acme' },
    days: 14,
  },
  async handle({ serviceId, minSeverity, settings, days }, { caller, stores, exceptions, now }) {
    const config = { minSeverity };
    const complete = settingsOf(unwrap(parseRuleSettings({ kind: 'exception', config }, settings ?? {}, 'settings')));
    if (isOnRate(complete)) {
      const message = 'rules on how often exceptions come are not replayed: leave out eventsOver and usersOver';
      throw invalidInput([{ path: 'settings', message }]);
    }
    const service = await stores.services.get(caller.orgId, serviceId);
    const since = now.subtract({ hours: 24 * Math.min(days, service.retentionExceptions) });
    const [groups, firstEvents] = await Promise.all([
      stores.groupReleases.listBegunOrBack(service.id, since, GROUPS_MAX + 1),
      exceptions.lists.listFirst(service.id, since, GROUPS_MAX),
    ]);
    const incidents = replayExceptions({ minSeverity, settings: complete }, groups.slice(0, GROUPS_MAX), firstEvents);
    return {
      since: toTimestamp(since),
      incidentCount: incidents.length,
      incidents: incidents.slice(0, SHOWN_MAX).map(({ at, ...incident }) => ({ ...incident, at: toTimestamp(at) })),
      isCut: groups.length > GROUPS_MAX,
    };
  },
});
