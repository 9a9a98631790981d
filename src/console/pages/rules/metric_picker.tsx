import { useQuery } from '@tanstack/react-query';

import { actionQuery } from '#console/api/queries.ts';
import { Autocomplete } from '#console/components/forms/autocomplete.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';

const OPTIONS_MAX = 50;
const NAMES_FRESH_MS = 10_000;

interface MetricPickerProps {
  readonly serviceId: string | null;
  readonly label?: string;
  readonly value: string;
  onChange(name: string): void;
  readonly error: string | undefined;
}

/** Field for the name of a metric, completed from those that arrive. */
export function MetricPicker({ serviceId, label = 'Metric', value, onChange, error }: MetricPickerProps) {
  const { orgId } = useOrganization().org;
  const name = value.trim();
  const isUnknownIn = (names: readonly string[]): boolean =>
    name !== '' && !name.includes('{') && !names.includes(name);
  const { data, isFetching } = useQuery({
    ...actionQuery(orgId, 'services', 'list_metric_names', { serviceId: serviceId ?? '' }),
    enabled: serviceId !== null,
    staleTime: NAMES_FRESH_MS,
    // A name may arrive while its rule is being written.
    refetchInterval: ({ state }) => (isUnknownIn(state.data?.metricNames ?? ['']) ? NAMES_FRESH_MS : false),
  });
  const names = data?.metricNames ?? [];
  const isUnknown = data !== undefined && !isFetching && isUnknownIn(names);
  const isHistogram = names.includes(`${name}_bucket`);
  const hint =
    serviceId === null
      ? 'Choose the service first.'
      : data !== undefined && !isFetching && names.length === 0
        ? 'This service has sent no metrics yet.'
        : isUnknown && isHistogram
          ? `A histogram: write ${selectorText(name, [{ label: 'quantile', operator: '=', value: '0.95' }])}, ${name}_count or ${name}_sum.`
          : isUnknown
            ? 'No point of this name has arrived yet. The rule waits for it.'
            : undefined;
  return (
    <Autocomplete
      listLabel="Metrics"
      label={label}
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
