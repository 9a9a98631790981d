import { Button, Group, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';

import type { ConfigFieldsProps } from '#console/pages/rules/config_field_props.ts';
import { LabelFields } from '#console/pages/rules/label_fields.tsx';
import { MetricPicker } from '#console/pages/rules/metric_picker.tsx';
import classes from '#console/pages/rules/rule_editor.module.css';
import { AGGREGATION_NAMES, AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { COMPARATORS } from '#modules/rules/decide/comparator.ts';
import { type LabelMatcher, readSelector } from '#modules/metrics/decide/read_selector.ts';
import { divideExpression } from '#modules/metrics/decide/ratio.ts';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';

/** Fields of the comparison that a metric rule makes. */
export function MetricFields({ serviceId, config, onChange, errorOf }: ConfigFieldsProps) {
  const text = String(config['metricName'] ?? '');
  const { sides, factor } = divideExpression(text);
  const [upper, lower] = [sides[0]?.text ?? '', sides[1]?.text];
  const write = (first: string, second: string | undefined, times: string | undefined): void => {
    const ratio = second === undefined ? first : `${first} / ${second}`;
    onChange({ metricName: times === undefined ? ratio : `${ratio} * ${times}` });
  };
  // More than two sides are no ratio: the whole text stays in the first field until it is mended.
  const isRatio = lower !== undefined && sides.length === 2;
  return (
    <Stack>
      <SideFields
        serviceId={serviceId}
        label="Metric"
        text={isRatio ? upper : text}
        onChange={(next) => (isRatio ? write(next, lower, factor?.text) : onChange({ metricName: next }))}
        error={errorOf('metricName')}
      />
      {isRatio ? (
        <>
          <SideFields
            serviceId={serviceId}
            label="Divided by"
            text={lower}
            onChange={(next) => write(upper, next, factor?.text)}
            error={undefined}
          />
          <Group align="end">
            <TextInput
              label="Times"
              placeholder="1"
              inputMode="decimal"
              value={factor?.text ?? ''}
              onChange={({ currentTarget: { value } }) => write(upper, lower, value.trim() === '' ? undefined : value)}
            />
            <Button variant="default" onClick={() => onChange({ metricName: upper })}>
              Do not divide
            </Button>
          </Group>
        </>
      ) : (
        text.trim() !== '' && (
          <Group>
            <Button variant="subtle" size="compact-sm" onClick={() => write(text, '', '100')}>
              Divide by another metric
            </Button>
          </Group>
        )
      )}
      <Group grow align="start">
        <NativeSelect
          label="Aggregation"
          value={String(config['aggregation'])}
          onChange={(event) => onChange({ aggregation: event.currentTarget.value })}
          data={AGGREGATIONS.map((value) => ({ value, label: AGGREGATION_NAMES[value] }))}
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

interface SideFieldsProps {
  readonly serviceId: string | null;
  readonly label: string;
  /** Selector of the side. */
  readonly text: string;
  onChange(text: string): void;
  readonly error: string | undefined;
}

/** Fields of a selector: the metric, and the labels that its series need. */
function SideFields({ serviceId, label, text, onChange, error }: SideFieldsProps) {
  const parts = partsOf(text);
  // A line without a label is not part of the selector yet.
  const [lines, setLines] = useState(parts?.matchers ?? []);
  const name = parts?.name ?? text;
  const isCurrent = parts !== null && selectorText(name, lines.filter(isComplete)) === text;
  const matchers = isCurrent ? lines : (parts?.matchers ?? []);
  return (
    <>
      <MetricPicker
        serviceId={serviceId}
        label={label}
        value={name}
        onChange={(next) => {
          const typed = partsOf(next);
          // A selector or a ratio that was pasted brings its own labels.
          const isSelector = typed === null || typed.matchers.length > 0 || divideExpression(next).sides.length > 1;
          onChange(isSelector || next === '' ? next : selectorText(next, matchers.filter(isComplete)));
        }}
        error={error}
      />
      {parts !== null && name.trim() !== '' && (
        <LabelFields
          serviceId={serviceId}
          metricName={name}
          matchers={matchers}
          onChange={(next) => {
            setLines(next);
            onChange(selectorText(name, next.filter(isComplete)));
          }}
        />
      )}
    </>
  );
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
