import { Button, Group, NativeSelect, NumberInput, Skeleton, Stack, TextInput } from '@mantine/core';
import { useEffect, useEffectEvent, useState } from 'react';

import { prefetchOnInteraction } from '#console/components/prefetch_on_interaction.ts';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { type ListedMetric, MetricPicker, metricOfName, useMetricsLike } from '#console/pages/rules/metric_picker.tsx';
import type { ConfigValues } from '#console/pages/rules/rule_values.ts';
import { AggregationSelect } from '#console/pages/rules/aggregation_select.tsx';
import {
  AGGREGATIONS,
  type Aggregation,
  quantileChoices,
  quantileCondition,
} from '#modules/metrics/decide/aggregation.ts';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import { divideExpression } from '#modules/metrics/decide/ratio.ts';
import { type LabelMatcher, readSelector } from '#modules/metrics/decide/read_selector.ts';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';
import { COMPARATORS } from '#modules/rules/decide/kind_settings.ts';
import classes from '#console/pages/rules/rule_editor.module.css';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';

const LabelFields = lazyPart(() => import('#console/pages/rules/label_fields.tsx').then((m) => m.LabelFields));

prefetchOnInteraction(LabelFields.preload);

export function MetricFields({ serviceId, config, onChange, errorOf }: ConfigFieldsProps) {
  const text = String(config['metricName'] ?? '');
  const { isQuantile, kind, usual } = useAskedMetric(serviceId, text);
  const aggregation = AGGREGATIONS.find((candidate) => candidate === config['aggregation']);
  const settle = useEffectEvent((usual: Aggregation) => onChange({ aggregation: usual }));
  // A rule that names no aggregation takes the usual one of its metric.
  useEffect(() => {
    if (aggregation === undefined && usual !== null) settle(usual);
  }, [aggregation, usual]);
  return (
    <Stack>
      <ExpressionFields
        serviceId={serviceId}
        text={text}
        waits=" The rule waits for it."
        onChange={(metricName, chosen) =>
          onChange({ metricName, ...(chosen !== null && { aggregation: chosen.aggregation }) })
        }
        error={errorOf('metricName')}
      />
      <Group grow align="start">
        {!isQuantile && (
          <AggregationSelect
            kind={kind}
            hasRate={false}
            shown={aggregation ?? usual ?? 'avg'}
            onChange={(aggregation) => onChange({ aggregation })}
            error={errorOf('aggregation')}
          />
        )}
        <NumberInput
          label="Each value covers"
          suffix=" min"
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

interface ExpressionFieldsProps {
  readonly serviceId: string | null;
  /** Selector, or a ratio of two. */
  readonly text: string;
  /** Sentence about what becomes of a name that has not arrived yet. */
  readonly waits?: string;
  /** Whether values of labels may be variables of a dashboard. */
  readonly hasVariables?: boolean;
  /** Question to a histogram: a quantile when left out, the number of its observations, or all of them. */
  readonly ofHistogram?: 'quantile' | 'count' | 'whole';
  /** Called with the text, and with the metric if one was chosen from the list. */
  onChange(text: string, chosen: ListedMetric | null): void;
  readonly error: string | undefined;
}

/** Fields of a metric, or of one that is divided by another. */
export function ExpressionFields({ text, onChange, error, ...common }: ExpressionFieldsProps) {
  const { sides, factor } = divideExpression(text);
  const [upper, lower] = [sides[0]?.text ?? '', sides[1]?.text];
  const write = (
    first: string,
    second: string | undefined,
    times: string | undefined,
    chosen: ListedMetric | null = null,
  ): void => {
    const ratio = second === undefined ? first : `${first} / ${second}`;
    onChange(times === undefined ? ratio : `${ratio} * ${times}`, chosen);
  };
  // More than two sides are no ratio: the whole text stays in the first field until it is mended.
  const isRatio = lower !== undefined && sides.length === 2;
  return (
    <>
      <SideFields
        {...common}
        label="Metric"
        text={isRatio ? upper : text}
        onChange={(next, chosen) => (isRatio ? write(next, lower, factor?.text, chosen) : onChange(next, chosen))}
        error={error}
      />
      {isRatio ? (
        <>
          <SideFields
            {...common}
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
            <Button variant="default" onClick={() => onChange(upper, null)}>
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
    </>
  );
}

interface SideFieldsProps extends ExpressionFieldsProps {
  readonly label: string;
}

const isQuantileOf = ({ label, operator }: LabelMatcher): boolean => label === 'quantile' && operator === '=';

/**
 * Returns what is known of the metric, or of the dividend. Of a quantile of a histogram there is nothing to aggregate;
 * kind and usual aggregation are null until they are known.
 */
export function useAskedMetric(serviceId: string | null, text: string) {
  const parts = partsOf(divideExpression(text).sides[0]?.text ?? text);
  const name = parts?.name ?? '';
  const like = useMetricsLike(serviceId, name);
  const metric = metricOfName(name.trim(), { metrics: like?.metrics ?? [] });
  return {
    isQuantile: parts?.matchers.some(isQuantileOf) === true && metric?.isHistogram === true,
    kind: metric?.kind ?? null,
    usual: metric?.aggregation ?? null,
  };
}

const isHistogram = (name: string, metrics: readonly ListedMetric[]): boolean =>
  metricOfName(name.trim(), { metrics })?.isHistogram === true;

/** Returns the conditions after another metric is named: of a histogram with a quantile, of its counts without one. */
function conditionsFor(
  name: string,
  chosen: ListedMetric | null,
  before: readonly LabelMatcher[],
): readonly LabelMatcher[] {
  const others = before.filter((matcher) => !isQuantileOf(matcher));
  if (chosen?.isHistogram === true) return others.length < before.length ? before : [...others, quantileCondition()];
  return chosen !== null || /_(?:bucket|count|sum)$/.test(name) ? others : before;
}

/** Fields of a selector: the metric, a quantile of a histogram, and the labels that its series need. */
export function SideFields({ serviceId, label, text, onChange, error, ...rest }: SideFieldsProps) {
  const { waits = '', hasVariables = false, ofHistogram = 'quantile' } = rest;
  const hasQuantiles = ofHistogram === 'quantile';
  const parts = partsOf(text);
  // A line without a label is not part of the selector yet.
  const [lines, setLines] = useState(parts?.matchers ?? []);
  const name = parts?.name ?? text;
  const isCurrent = parts !== null && selectorText(name, lines.filter(isComplete)) === text;
  const matchers = isCurrent ? lines : (parts?.matchers ?? []);
  const quantile = matchers.find(isQuantileOf);
  const like = useMetricsLike(serviceId, name);
  const show = (next: readonly LabelMatcher[]): void => {
    setLines([...next]);
    onChange(selectorText(name, next.filter(isComplete)), null);
  };
  const others = matchers.filter((matcher) => matcher !== quantile);
  return (
    <>
      <MetricPicker
        serviceId={serviceId}
        label={label}
        value={name}
        ofHistogram={quantile === undefined ? ofHistogram : 'whole'}
        waits={waits}
        onChange={(next, chosen) => {
          const typed = chosen === null ? partsOf(next) : null;
          // A selector or a ratio that was pasted brings its own labels.
          const isSelector =
            chosen === null && (typed === null || typed.matchers.length > 0 || divideExpression(next).sides.length > 1);
          if (isSelector || next === '') onChange(next, null);
          else {
            const before = matchers.filter(isComplete);
            const name = ofHistogram === 'count' && chosen?.isHistogram === true ? `${next}_count` : next;
            onChange(selectorText(name, hasQuantiles ? conditionsFor(next, chosen, before) : before), chosen);
          }
        }}
        error={error}
      />
      {hasQuantiles && (quantile !== undefined || (like !== undefined && isHistogram(name, like.metrics))) && (
        <NativeSelect
          label="Quantile"
          value={quantile?.value ?? ''}
          data={[
            ...(quantile === undefined ? [{ value: '', label: 'Choose one' }] : []),
            ...quantileChoices(quantile?.value),
          ]}
          onChange={({ currentTarget: { value } }) => value !== '' && show([quantileCondition(value), ...others])}
        />
      )}
      {parts !== null && name.trim() !== '' && (
        <LabelFields
          serviceId={serviceId}
          metricName={quantile === undefined ? name : selectorText(name, [quantile])}
          hasVariables={hasVariables}
          matchers={others}
          onChange={(next) => show(quantile === undefined ? next : [quantile, ...next])}
          whileLoading={<Skeleton height="4.25rem" />}
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

export interface ConfigFieldsProps {
  readonly kind: RuleKind;
  readonly serviceId: string | null;
  readonly config: ConfigValues;
  onChange(change: ConfigValues): void;
  /** Returns the fault of a field; undefined if there is none. */
  errorOf(field: string): string | undefined;
}
