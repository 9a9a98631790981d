import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';

export const listMetricNames = defineAction({
  name: 'list_metric_names',
  summary:
    'List the names, without labels, of the metrics that a service has sent within its retention; query_metric takes them.',
  guidance: 'Call it before query_metric.',
  permission: 'dashboards:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText }),
  result: Type.Object({ metricNames: Type.Array(Type.String(), { description: 'sorted' }) }),
  untrustedText: ['metricNames'],
  aliases: ['list_metrics', 'get_metrics', 'get_metric_names', 'search_metrics'],
  digest: ({ metricNames }) => ({ total: metricNames.length, metricNames }),
  example: { serviceId: IDS.serviceId },
  exampleResult: { metricNames: ['http_request_duration_ms', 'orders_total', 'queue_depth'] },
  async handle({ serviceId }, { caller, stores, metrics, now }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const keptSince = now.subtract({ hours: 24 * service.retentionMetrics });
    return { metricNames: await metrics.listNames(service.id, keptSince) };
  },
});
