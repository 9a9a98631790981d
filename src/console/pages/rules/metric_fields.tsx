import { Group, NativeSelect, NumberInput, Stack } from '@mantine/core';
import { useState } from 'react';

import type { ConfigFieldsProps } from '#console/pages/rules/config_field_props.ts';
import { LabelFields } from '#console/pages/rules/label_fields.tsx';
import { MetricPicker } from '#console/pages/rules/metric_picker.tsx';
import classes from '#console/pages/rules/rule_editor.module.css';
import { AGGREGATIONS, type Aggregation } from '#modules/metrics/decide/aggregation.ts';
import { COMPARATORS } from '#modules/rules/decide/comparator.ts';
import { type LabelMatcher, readSelector } from '#modules/metrics/decide/read_selector.ts';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';

const MEANINGS: Readonly<Record<Aggregation, string>> = {
  avg: 'average',
  sum: 'sum (increase of a counter)',
  min: 'least',
  max: 'greatest',
  last: 'newest value',
  count: 'number of points',
};

/** Fields of the comparison that a metric rule makes. */
export function MetricFields({ serviceId, config, onChange, errorOf }: ConfigFieldsProps) {
  const text = String(config['metricName'] ?? '');
  const parts = partsOf(text);
  // A line without a label is not part of the selector yet.
  const [lines, setLines] = useState(parts?.matchers ?? []);
  const name = parts?.name ?? text;
  const isCurrent = parts !== null && selectorText(name, lines.filter(isComplete)) === text;
  const matchers = isCurrent ? lines : (parts?.matchers ?? []);
  return (
    <Stack>
      <MetricPicker
        serviceId={serviceId}
        value={name}
        onChange={(next) => {
          const typed = partsOf(next);
          // A selector that was pasted brings its own labels.
          const isSelector = typed === null || typed.matchers.length > 0;
          onChange({ metricName: isSelector ? next : selectorText(next, matchers.filter(isComplete)) });
        }}
        error={errorOf('metricName')}
      />
      {parts !== null && name.trim() !== '' && (
        <LabelFields
          serviceId={serviceId}
          metricName={name}
          matchers={matchers}
          onChange={(next) => {
            setLines(next);
            onChange({ metricName: selectorText(name, next.filter(isComplete)) });
          }}
        />
      )}
      <Group grow align="start">
        <NativeSelect
          label="Aggregation"
          value={String(config['aggregation'])}
          onChange={(event) => onChange({ aggregation: event.currentTarget.value })}
          data={AGGREGATIONS.map((value) => ({ value, label: MEANINGS[value] }))}
          error={errorOf('aggregation')}
        />
        <NumberInput
          label="Over the last minutes"
          value={config['windowMinutes'] ?? ''}
          onChange={(windowMinutes) => onChange({ windowMinutes })}
          min={1}
          max={WINDOW_MINUTES_MAX}
          clampBehavior="none"
          allowDecimal={false}
          error={errorOf('windowMinutes')}
        />
      </Group>
      <Group align="start" wrap="nowrap">
        <NativeSelect
          label="Fires at"
          value={String(config['comparator'])}
          onChange={(event) => onChange({ comparator: event.currentTarget.value })}
          data={COMPARATORS.map((value) => ({ value, label: SPOKEN[value] }))}
          error={errorOf('comparator')}
        />
        <NumberInput
          label="Threshold"
          className={classes.threshold}
          value={config['threshold'] ?? ''}
          onChange={(threshold) => onChange({ threshold })}
          error={errorOf('threshold')}
        />
      </Group>
    </Stack>
  );
}

const SPOKEN = { '>': '> above', '>=': '≥ at or above', '<': '< below', '<=': '≤ at or below' } as const;

function isComplete({ label }: LabelMatcher): boolean {
  return label.trim() !== '' && label !== '__name__';
}

/** Returns the name and the labels of a selector; null while it cannot be parsed. */
function partsOf(text: string): ReturnType<typeof readSelector> | null {
  if (text.trim() === '') return { name: '', matchers: [] };
  try {
    return readSelector(text);
  } catch {
    return null;
  }
}
