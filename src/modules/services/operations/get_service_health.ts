import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { firstHour, HOURLY, HOURS, toHourly } from '#modules/services/operations/hourly.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

const SERVICES_MAX = 200;
const COUNT = Type.Integer({ minimum: 0 });

/** Returns the data that the list of services shows besides their names, for the rows on the screen. */
export const getServiceHealth = defineAction({
  name: 'get_service_health',
  consoleOnly: true,
  summary: 'Show what these services sent, what of it was refused, and how many rules watch them.',
  permission: 'services:view',
  effect: 'read',
  input: Type.Object(
    {
      serviceIds: Type.Array(IdText, { maxItems: SERVICES_MAX, description: 'one that is not there is left out' }),
    },
    STRICT,
  ),
  result: Type.Object({
    from: Timestamp,
    services: Type.Array(
      Type.Object({
        serviceId: IdText,
        lastPointAt: nullable(Timestamp),
        events: HOURLY,
        refused: Type.Integer({ minimum: 0, description: `points, events and requests in the last ${HOURS} hours` }),
        rules: COUNT,
        pagingRules: Type.Integer({ minimum: 0, description: 'enabled, with an escalation policy' }),
      }),
    ),
  }),
  example: { serviceIds: ['service_01k9z8e4rnf7ktv2x5m6w0abqe'] },
  async handle({ serviceIds }, { caller, stores, now, metrics, exceptions }) {
    const wanted = { text: undefined, serviceIds: [...serviceIds] };
    const page = await stores.services.search(caller.orgId, wanted, { after: null, limit: SERVICES_MAX });
    const ids = page.map(({ id }) => id);
    const from = firstHour(now);
    const [events, lastPoints] = await Promise.all([exceptions.countByHour(ids, from), metrics.lastPoints(ids)]);
    const refused = await stores.ingestRefusals.countOfServices(ids, now.subtract({ hours: HOURS }));
    const rules = await stores.alertRules.countOfServices(caller.orgId, ids);
    return {
      from: toTimestamp(from),
      services: ids.map((id) => ({
        serviceId: id,
        lastPointAt: toTimestampOrNull(lastPoints.get(id) ?? null),
        events: toHourly(events.get(id), from),
        refused: refused.get(id) ?? 0,
        rules: rules.get(id)?.rules ?? 0,
        pagingRules: rules.get(id)?.paging ?? 0,
      })),
    };
  },
});
