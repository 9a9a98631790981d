import { ActionIcon, Button, Group, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlus, IconX } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';

import { actionQuery } from '#console/api/actions.ts';
import { Autocomplete } from '#console/components/forms/autocomplete.tsx';
import { quantileChoices, quantileCondition } from '#console/pages/explore/explore_search.ts';
import { type ListedMetric, MetricPicker, metricOfName, useMetricsLike } from '#console/pages/rules/metric_picker.tsx';
import type { ConfigValues } from '#console/pages/rules/rule_values.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { AggregationSelect } from '#console/pages/explore/aggregation_select.tsx';
import { type Aggregation, AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import { divideExpression } from '#modules/metrics/decide/ratio.ts';
import { type LabelMatcher, type MatchOperator, readSelector } from '#modules/metrics/decide/read_selector.ts';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';
import { COMPARATORS } from '#modules/rules/decide/kind_settings.ts';
import classes from '#console/pages/rules/rule_editor.module.css';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';

/** Fields of the comparison that a metric rule makes. */
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
          label="Measured over"
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

const OPERATORS: readonly { readonly value: MatchOperator; readonly label: string }[] = [
  { value: '=', label: '= is' },
  { value: '!=', label: '≠ is not' },
  { value: '=~', label: '=~ matches' },
  { value: '!~', label: '!~ does not match' },
];

interface LabelFieldsProps {
  readonly serviceId: string | null;
  readonly metricName: string;
  readonly hasVariables: boolean;
  readonly matchers: readonly LabelMatcher[];
  onChange(matchers: readonly LabelMatcher[]): void;
}

/** Fields that select the series of the metric: those whose labels match every line. */
function LabelFields({ serviceId, metricName, hasVariables, matchers, onChange }: LabelFieldsProps) {
  const labels = useKnownLabels(serviceId, metricName);
  const change = (index: number, part: Partial<LabelMatcher>): void =>
    onChange(matchers.map((matcher, place) => (place === index ? { ...matcher, ...part } : matcher)));
  return (
    <fieldset className={`${classes.labels} spaced flush`}>
      <legend>{matchers.length === 0 ? 'All its series are measured' : 'Only series with'}</legend>
      {matchers.map(({ label, operator, value }, index) => (
        // Lines have no identity of their own.
        // eslint-disable-next-line react/no-array-index-key
        <div key={index} className={classes.matcher}>
          <Autocomplete
            listLabel={`Label ${index + 1}`}
            placeholder="label"
            value={label}
            onChange={(text) => change(index, { label: text })}
            suggestions={labels}
            spellCheck={false}
            autoCapitalize="none"
          />
          <NativeSelect
            aria-label={`Comparison of label ${index + 1}`}
            value={operator}
            data={[...OPERATORS]}
            onChange={(event) => {
              const chosen = OPERATORS.find((operator) => operator.value === event.currentTarget.value);
              if (chosen !== undefined) change(index, { operator: chosen.value });
            }}
          />
          <LabelValue
            listLabel={`Value of label ${index + 1}`}
            serviceId={serviceId}
            metricName={metricName}
            label={label}
            before={hasVariables ? variableOf(label) : []}
            value={value}
            onChange={(text) => change(index, { value: text })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size={36}
            aria-label={`Remove label ${index + 1}`}
            onClick={() => onChange(matchers.filter((_, place) => place !== index))}
          >
            <IconX size={16} />
          </ActionIcon>
        </div>
      ))}
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={<IconPlus size={14} />}
        onClick={() => onChange([...matchers, { label: '', operator: '=', value: '' }])}
      >
        Add a label
      </Button>
      {hasVariables && matchers.length > 0 && (
        <span className="dimmed small">With a value such as $host, people choose it on the dashboard.</span>
      )}
    </fieldset>
  );
}

interface LabelValueProps {
  readonly listLabel: string;
  readonly serviceId: string | null;
  readonly metricName: string;
  readonly label: string;
  /** Suggestions before the values. */
  readonly before: readonly string[];
  readonly value: string;
  onChange(value: string): void;
}

/** Field for a value of a label, completed from those that arrive. The server searches for what is typed. */
function LabelValue({ listLabel, serviceId, metricName, label, before, value, onChange }: LabelValueProps) {
  const { orgId } = useOrganization().org;
  // The value already in the field is not a search: all are offered.
  const [typed, setTyped] = useState('');
  const [asked] = useDebouncedValue(
    { metricName: metricName.trim(), label, text: typed.trim().slice(0, 200) },
    DEBOUNCE_MS,
  );
  const { metricName: name, text } = asked;
  const { data } = useQuery({
    ...actionQuery(orgId, 'services', 'describe_labels', {
      serviceId: serviceId ?? '',
      metricName: name,
      label: asked.label,
      valuesMax: VALUES_SHOWN,
      ...(text !== '' && { text }),
    }),
    enabled: serviceId !== null && name !== '' && asked.label !== '',
    staleTime: 60_000,
    retry: false,
    placeholderData: keepPreviousData,
  });
  const entry = data?.labels.find((candidate) => candidate.label === label);
  const values = entry?.values.map((option) => option.value) ?? [];
  return (
    <Autocomplete
      listLabel={listLabel}
      placeholder="value"
      value={value}
      onChange={(next) => {
        setTyped(next);
        onChange(next);
      }}
      onBlur={() => setTyped('')}
      suggestions={[...before, ...values]}
      isSearched
      suggestionsMax={VALUES_SHOWN + before.length}
      further={(entry?.valueCount ?? 0) - values.length}
      spellCheck={false}
      autoCapitalize="none"
    />
  );
}

const VALUES_SHOWN = 20;

/** Returns the variable of a dashboard that is named after a label. */
const variableOf = (label: string): string[] => {
  const name = label.replaceAll(/\W/g, '_').replace(/^[\d_]+/, '');
  return name === '' ? [] : [`$${name.slice(0, 40)}`];
};

/** Pause in typing, in milliseconds, after which the server is asked. */
const DEBOUNCE_MS = 300;

/** Returns the labels of the metric's series that arrived in the last day. */
export function useKnownLabels(serviceId: string | null, metricName: string): readonly string[] {
  const { orgId } = useOrganization().org;
  const [name] = useDebouncedValue(metricName.trim(), DEBOUNCE_MS);
  const { data } = useQuery({
    ...actionQuery(orgId, 'services', 'describe_labels', {
      serviceId: serviceId ?? '',
      metricName: name,
      valuesMax: 1,
    }),
    enabled: serviceId !== null && name !== '',
    staleTime: 60_000,
    retry: false,
    placeholderData: keepPreviousData,
  });
  return data?.labels.map(({ label }) => label) ?? [];
}

export interface ConfigFieldsProps {
  readonly kind: RuleKind;
  readonly serviceId: string | null;
  readonly config: ConfigValues;
  onChange(change: ConfigValues): void;
  /** Returns the fault of a field; undefined if there is none. */
  errorOf(field: string): string | undefined;
}
