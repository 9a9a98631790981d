import { useQuery } from '@tanstack/react-query';

import { actionQuery } from '#console/api/queries.ts';
import { Suggestions } from '#console/components/suggestions.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const OPTIONS_MAX = 50;

interface MetricPickerProps {
  readonly serviceId: string | null;
  readonly value: string;
  onChange(name: string): void;
  readonly error: string | undefined;
}

/** The name of a metric, completed from those that arrive. */
export function MetricPicker({ serviceId, value, onChange, error }: MetricPickerProps) {
  const { orgId } = useOrganization().org;
  const { data } = useQuery({
    ...actionQuery(orgId, 'services', 'list_metric_names', { serviceId: serviceId ?? '' }),
    enabled: serviceId !== null,
    staleTime: 60_000,
  });
  const names = data?.metricNames ?? [];
  const isUnknown = data !== undefined && value.trim() !== '' && !value.includes('{') && !names.includes(value.trim());
  const hint =
    serviceId === null
      ? 'Choose the service first.'
      : data !== undefined && names.length === 0
        ? 'This service has sent no metrics yet.'
        : isUnknown
          ? 'No point of this name has arrived yet. The rule waits for it.'
          : undefined;
  return (
    <Suggestions
      listLabel="Metrics"
      label="Metric"
      placeholder="http_request_duration_ms"
      value={value}
      onChange={onChange}
      suggestions={names}
      suggestionsMax={OPTIONS_MAX}
      description={hint}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      error={error}
      spellCheck={false}
      autoCapitalize="none"
    />
  );
}
