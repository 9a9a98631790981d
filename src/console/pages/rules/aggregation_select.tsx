import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';

import { aggregationChoices, type ShownAggregation, type ShownMetric } from '#modules/metrics/decide/aggregation.ts';

interface AggregationSelectProps extends ShownMetric {
  onChange(chosen: ShownAggregation): void;
  readonly error?: ReactNode;
}

/** Choice of what is shown or measured of a metric, the same wherever one is chosen. */
export function AggregationSelect({ onChange, error, ...metric }: AggregationSelectProps) {
  const choices = aggregationChoices(metric);
  return (
    <NativeSelect
      label="Aggregation"
      value={metric.shown ?? ''}
      data={metric.shown === null ? [{ value: '', label: 'Loading' }, ...choices] : choices}
      onChange={({ currentTarget }) => {
        const chosen = choices.find(({ value }) => value === currentTarget.value);
        if (chosen !== undefined) onChange(chosen.value);
      }}
      error={error}
    />
  );
}
