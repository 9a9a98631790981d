import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, type InputOf, type ResultOf } from '#console/api/actions.ts';
import { Autocomplete } from '#console/components/forms/autocomplete.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const OPTIONS_MAX = 20;
const NAMES_FRESH_MS = 10_000;

export type ListedMetric = Pick<
  ResultOf<'describe_metrics'>['metrics'][number],
  'metricName' | 'isHistogram' | 'aggregation' | 'kind'
>;

/** Metrics of a service whose names hold a text. */
interface ListedMetrics {
  readonly metrics: readonly ListedMetric[];
  readonly total: number;
  readonly nearest: readonly string[];
}

interface MetricPickerProps {
  readonly serviceId: string | null;
  readonly label?: string;
  readonly value: string;
  /** Question to a histogram: a quantile, which the selector lacks, the number of its observations, or all of them. */
  readonly ofHistogram: 'quantile' | 'count' | 'whole';
  /** Sentence about what becomes of a name that has not arrived yet. */
  readonly waits?: string;
  /** Called with the name, and with the metric if it was chosen from the list. */
  onChange(name: string, chosen: ListedMetric | null): void;
  readonly error: string | undefined;
}

/** Returns the metric of this name; null if it is none of these, and a part of a histogram is none. */
export function metricOfName(name: string, { metrics }: Pick<ListedMetrics, 'metrics'>): ListedMetric | null {
  return metrics.find(({ metricName }) => metricName === name) ?? null;
}

/** Returns what to know of a name, given the metrics whose names hold it; undefined for nothing. */
export function hintOfName(
  name: string,
  listed: ListedMetrics,
  ofHistogram: MetricPickerProps['ofHistogram'],
  waits = '',
): string | undefined {
  if (name === '' || name.includes('{')) return undefined;
  const metric = metricOfName(name, listed);
  if (metric?.isHistogram === true && ofHistogram !== 'whole') {
    return ofHistogram === 'count'
      ? `A histogram: write ${name}_count for the number of its observations.`
      : `A histogram: choose a quantile below, or write ${name}_count or ${name}_sum.`;
  }
  if (metric !== null) return undefined;
  const isPart = listed.metrics.some(({ metricName, isHistogram }) => isHistogram && name.startsWith(`${metricName}_`));
  if (isPart || listed.total > listed.metrics.length) return undefined;
  const meant = listed.nearest.length > 0 ? ` Did you mean ${listed.nearest.join(' or ')}?` : waits;
  return `No point of this name has arrived yet.${meant}`;
}

const briefQuery = (orgId: string, wanted: Pick<InputOf<'describe_metrics'>, 'serviceId' | 'text'>) =>
  actionQuery(orgId, 'metrics', 'describe_metrics', { ...wanted, limit: OPTIONS_MAX, isBrief: true });

/** Returns the metrics of the service whose names hold this one; undefined until they are known. */
export function useMetricsLike(serviceId: string | null, typed: string): ListedMetrics | undefined {
  const { orgId } = useOrganization().org;
  const name = useDebounced(typed.trim());
  const { data } = useQuery({
    ...briefQuery(orgId, { serviceId: serviceId ?? '', text: name.slice(0, 200) }),
    enabled: serviceId !== null && name !== '' && !name.includes('{'),
    staleTime: NAMES_FRESH_MS,
    retry: false,
    // A name may arrive while its rule is being written.
    refetchInterval: ({ state }) =>
      state.data !== undefined && state.data.metrics.length === 0 ? NAMES_FRESH_MS : false,
  });
  return name === typed.trim() ? data : undefined;
}

/** Field for the name of a metric, completed from those that arrive. The server searches for what is typed. */
export function MetricPicker(props: MetricPickerProps) {
  const { serviceId, label = 'Metric', value, ofHistogram, waits, onChange, error } = props;
  const { orgId } = useOrganization().org;
  // The name already in the field is not a search: all are offered.
  const [typed, setTyped] = useState('');
  const text = useDebounced(typed.trim());
  const { data } = useQuery({
    ...briefQuery(orgId, {
      serviceId: serviceId ?? '',
      ...(text !== '' && !text.includes('{') && { text: text.slice(0, 200) }),
    }),
    enabled: serviceId !== null,
    staleTime: NAMES_FRESH_MS,
    placeholderData: keepPreviousData,
  });
  const metrics = data?.metrics ?? [];
  const like = useMetricsLike(serviceId, value);
  const hint =
    serviceId === null
      ? 'Choose the service first.'
      : text === '' && data?.total === 0
        ? 'This service has sent no metrics yet.'
        : like && hintOfName(value.trim(), like, ofHistogram, waits);
  return (
    <Autocomplete
      listLabel="Metrics"
      label={label}
      placeholder="Type a part of its name"
      value={value}
      onChange={(next) => {
        setTyped(next);
        onChange(next, metrics.find(({ metricName }) => metricName === next) ?? null);
      }}
      onBlur={() => setTyped('')}
      suggestions={metrics.map(({ metricName }) => metricName)}
      isSearched
      suggestionsMax={OPTIONS_MAX}
      further={(data?.total ?? 0) - metrics.length}
      description={hint}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      error={error}
      spellCheck={false}
      autoCapitalize="none"
    />
  );
}
