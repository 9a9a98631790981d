import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, IdText } from '#actions/fields.ts';

export const listMetricNames = defineAction({
  name: 'list_metric_names',
  summary:
    'List the names, without labels, of the metrics that a service has sent within its retention; query_metric takes them.',
  permission: 'dashboards:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText }, CLOSED),
  result: Type.Object({ metricNames: Type.Array(Type.String(), { description: 'sorted' }) }),
  async handle({ serviceId }, { caller, stores, metrics, now }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const keptSince = now.subtract({ hours: 24 * service.retentionMetrics });
    return { metricNames: await metrics.listNames(service.id, keptSince) };
  },
});
