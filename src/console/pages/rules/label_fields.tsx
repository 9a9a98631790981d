import { ActionIcon, Button, NativeSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlus, IconX } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';

import { LABEL_VALUES_MAX } from '#modules/metrics/decide/limits.ts';
import { actionQuery } from '#console/api/queries.ts';
import { Autocomplete } from '#console/components/forms/autocomplete.tsx';
import classes from '#console/pages/rules/rule_editor.module.css';
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
  readonly matchers: readonly LabelMatcher[];
  onChange(matchers: readonly LabelMatcher[]): void;
}

/** Fields that select the series of the metric: those whose labels match every line. */
export function LabelFields({ serviceId, metricName, matchers, onChange }: LabelFieldsProps) {
  const labels = useKnownLabels(serviceId, metricName);
  const change = (index: number, part: Partial<LabelMatcher>): void =>
    onChange(matchers.map((matcher, place) => (place === index ? { ...matcher, ...part } : matcher)));
  return (
    <fieldset className={classes.labels}>
      <legend>{matchers.length === 0 ? 'All its series count' : 'Only series with'}</legend>
      {matchers.map(({ label, operator, value }, index) => (
        // Lines have no identity of their own.
        // eslint-disable-next-line react/no-array-index-key
        <div key={index} className={classes.matcher}>
          <Autocomplete
            listLabel={`Label ${index + 1}`}
            placeholder="label"
            value={label}
            onChange={(text) => change(index, { label: text })}
            suggestions={[...labels.keys()]}
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
          <Autocomplete
            listLabel={`Value of label ${index + 1}`}
            placeholder="value"
            value={value}
            onChange={(text) => change(index, { value: text })}
            suggestions={labels.get(label) ?? []}
            spellCheck={false}
            autoCapitalize="none"
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
    </fieldset>
  );
}

/** Pause in typing, in milliseconds, after which the server is asked. */
const DEBOUNCE_MS = 300;

/** Returns the labels of the metric's series, each with its values: those that arrived in the last day. */
function useKnownLabels(serviceId: string | null, metricName: string): ReadonlyMap<string, readonly string[]> {
  const { orgId } = useOrganization().org;
  const [name] = useDebouncedValue(metricName.trim(), DEBOUNCE_MS);
  const { data } = useQuery({
    ...actionQuery(orgId, 'services', 'describe_labels', {
      serviceId: serviceId ?? '',
      metricName: name,
      valuesMax: LABEL_VALUES_MAX,
    }),
    enabled: serviceId !== null && name !== '',
    staleTime: 60_000,
    retry: false,
    placeholderData: keepPreviousData,
  });
  return new Map(data?.labels.map(({ label, values }) => [label, values.map(({ value }) => value)]));
}
