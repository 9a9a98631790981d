import { useQuery } from '@tanstack/react-query';

import { actionQuery } from '#console/api/actions.ts';
import { Autocomplete } from '#console/components/forms/autocomplete.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';

const OPTIONS_MAX = 50;
const NAMES_FRESH_MS = 10_000;

interface MetricPickerProps {
  readonly serviceId: string | null;
  readonly label?: string;
  readonly value: string;
  /** Whether a quantile is asked for, by a label of the selector. */
  readonly hasQuantile?: boolean;
  onChange(name: string): void;
  readonly error: string | undefined;
}

/** Returns what to know of a name that is none of those that have arrived; undefined for nothing. */
export function hintOfName(name: string, names: readonly string[], hasQuantile: boolean): string | undefined {
  if (name === '' || name.includes('{') || names.includes(name)) return undefined;
  if (!names.includes(`${name}_bucket`)) return 'No point of this name has arrived yet. The rule waits for it.';
  if (hasQuantile) return undefined;
  const quantile = selectorText(name, [{ label: 'quantile', operator: '=', value: '0.95' }]);
  return `A histogram: write ${quantile}, ${name}_count or ${name}_sum.`;
}

/** Field for the name of a metric, completed from those that arrive. */
export function MetricPicker(props: MetricPickerProps) {
  const { serviceId, label = 'Metric', value, hasQuantile = false, onChange, error } = props;
  const { orgId } = useOrganization().org;
  const name = value.trim();
  const hintIn = (names: readonly string[]) => hintOfName(name, names, hasQuantile);
  const { data, isFetching } = useQuery({
    ...actionQuery(orgId, 'services', 'list_metric_names', { serviceId: serviceId ?? '' }),
    enabled: serviceId !== null,
    staleTime: NAMES_FRESH_MS,
    // A name may arrive while its rule is being written.
    refetchInterval: ({ state }) => (hintIn(state.data?.metricNames ?? ['']) === undefined ? false : NAMES_FRESH_MS),
  });
  const names = data?.metricNames ?? [];
  const isRead = data !== undefined && !isFetching;
  const whatIsSent = names.length === 0 ? 'This service has sent no metrics yet.' : hintIn(names);
  const hint = serviceId === null ? 'Choose the service first.' : isRead ? whatIsSent : undefined;
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
