import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import { isOfService, keptIfSame } from '#console/api/charts.ts';
import { topicKey } from '#console/api/queries.ts';
import { Autocomplete } from '#console/components/forms/autocomplete.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import { selectorOfName } from '#modules/metrics/decide/selector_text.ts';

interface MetricFieldProps {
  /** Id of the service; null until one is chosen. */
  readonly serviceId: string | null;
  readonly value: string;
  readonly error: string | null;
  /** Called with the metric, and with its usual aggregation if it was chosen from the list. */
  onChange(metricName: string, usual: Aggregation | null): void;
}

/** Pause in typing, in milliseconds, after which the server is asked. */
const DEBOUNCE_MS = 200;
const OPTIONS = 20;

/** Field of a metric of a service: chosen from those that it sends, or written as a selector. */
export function MetricField({ serviceId, value, error, onChange }: MetricFieldProps) {
  const { orgId } = useOrganization().org;
  const [text] = useDebouncedValue(value.trim(), DEBOUNCE_MS);
  const wanted = {
    serviceId: serviceId ?? '',
    limit: OPTIONS,
    ...(text !== '' && !text.includes('{') && { text: text.slice(0, 200) }),
  };
  const { data } = useQuery({
    queryKey: [...topicKey(orgId, 'metrics'), 'describe_metrics', 'options', wanted],
    queryFn: ({ signal }) => invoke(orgId, 'describe_metrics', wanted, signal),
    enabled: serviceId !== null,
    placeholderData: keptIfSame((key) => isOfService(key, wanted.serviceId)),
  });
  const metrics = data?.metrics ?? [];
  const hint =
    data !== undefined && data.total === 0 && data.nearest.length > 0
      ? `Did you mean ${data.nearest.join(' or ')}?`
      : null;
  return (
    <Autocomplete
      listLabel="Metrics"
      label="Metric"
      description={hint ?? 'May carry a selector: http_requests_total{status="500"}'}
      placeholder={serviceId === null ? 'Choose a service first' : 'Type a part of its name'}
      disabled={serviceId === null}
      value={value}
      error={error}
      suggestions={metrics.map(({ metricName }) => selectorOfName(metricName))}
      isSearched
      further={(data?.total ?? 0) - metrics.length}
      maxLength={4_000}
      onChange={(next) => {
        const chosen = metrics.find(({ metricName }) => selectorOfName(metricName) === next);
        onChange(next, chosen?.aggregation ?? null);
      }}
    />
  );
}
