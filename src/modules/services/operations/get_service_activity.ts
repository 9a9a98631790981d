import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, Timestamp } from '#actions/fields.ts';
import { firstHour, HOURLY, HOURS, toHourly } from '#modules/services/operations/hourly.ts';
import { toTimestamp } from '#kernel/time.ts';

export const getServiceActivity = defineAction({
  name: 'get_service_activity',
  consoleOnly: true,
  summary:
    'Show how many metric points and exceptions a service sent in each of the last 24 hours, and what was refused.',
  permission: 'services:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText }, STRICT),
  result: Type.Object({
    from: Timestamp,
    points: HOURLY,
    events: HOURLY,
    refused: Type.Integer({ minimum: 0, description: 'points, events and requests in these hours' }),
  }),
  example: { serviceId: EXAMPLE_IDS.serviceId },
  async handle({ serviceId }, { caller, stores, now, metrics, exceptions }) {
    const { id } = await stores.services.get(caller.orgId, serviceId);
    const from = firstHour(now);
    const [points, events] = await Promise.all([metrics.countByHour([id], from), exceptions.countByHour([id], from)]);
    const refused = await stores.ingestRefusals.countOfServices([id], now.subtract({ hours: HOURS }));
    return {
      from: toTimestamp(from),
      points: toHourly(points.get(id), from),
      events: toHourly(events.get(id), from),
      refused: refused.get(id) ?? 0,
    };
  },
});
