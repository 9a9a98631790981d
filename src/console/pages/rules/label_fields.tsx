import { ActionIcon, Button, NativeSelect, type TextInputProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery } from '#console/api/actions.ts';
import { Autocomplete } from '#console/components/forms/autocomplete.tsx';
import classes from '#console/pages/rules/rule_editor.module.css';
import { IconPlus, IconX } from '#console/icons.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import type { LabelMatcher, MatchOperator } from '#modules/metrics/decide/read_selector.ts';

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
export function LabelFields({ serviceId, metricName, hasVariables, matchers, onChange }: LabelFieldsProps) {
  const change = (index: number, part: Partial<LabelMatcher>): void =>
    onChange(matchers.map((matcher, place) => (place === index ? { ...matcher, ...part } : matcher)));
  return (
    <fieldset className={`${classes.labels} spaced flush`}>
      <legend>{matchers.length === 0 ? 'All its series are measured' : 'Only series with'}</legend>
      {matchers.map(({ label, operator, value }, index) => (
        // Lines have no identity of their own.
        // eslint-disable-next-line react/no-array-index-key
        <div key={index} className={classes.matcher}>
          <LabelName
            listLabel={`Label ${index + 1}`}
            placeholder="label"
            serviceId={serviceId}
            metricName={metricName}
            value={label}
            onChange={(text) => change(index, { label: text })}
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

interface LabelNameProps extends Pick<TextInputProps, 'label'> {
  readonly listLabel: string;
  readonly placeholder: string;
  readonly serviceId: string | null;
  readonly metricName: string;
  readonly value: string;
  onChange(label: string): void;
}

/** Field for a label, completed from those of the series of the last day. The server searches for what is typed. */
export function LabelName({ serviceId, metricName, value, onChange, ...field }: LabelNameProps) {
  const { orgId } = useOrganization().org;
  // The label already in the field is not a search: all are offered.
  const [typed, setTyped] = useState('');
  const [asked] = useDebouncedValue({ name: metricName.trim(), text: typed.trim().slice(0, 200) }, DEBOUNCE_MS);
  const { name, text } = asked;
  const { data } = useQuery({
    ...actionQuery(orgId, 'services', 'describe_labels', {
      serviceId: serviceId ?? '',
      metricName: name,
      valuesMax: 1,
      ...(text !== '' && { labelText: text }),
    }),
    enabled: serviceId !== null && name !== '',
    staleTime: 60_000,
    retry: false,
    placeholderData: keepPreviousData,
  });
  const labels = data?.labels.map(({ label }) => label) ?? [];
  const shown = labels.slice(0, VALUES_SHOWN);
  return (
    <Autocomplete
      {...field}
      maxLength={200}
      value={value}
      onChange={(next) => {
        setTyped(next);
        onChange(next);
      }}
      onBlur={() => setTyped('')}
      suggestions={shown}
      isSearched
      further={(data?.labelCount ?? 0) - shown.length}
      spellCheck={false}
      autoCapitalize="none"
    />
  );
}
