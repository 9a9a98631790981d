import { ActionIcon, Button, NativeSelect, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';

import classes from '#console/pages/rules/rule_editor.module.css';
import type { LabelMatcher, MatchOperator } from '#core/metrics/read_selector.ts';

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

/** Which series of the metric count: those whose labels meet every line. */
export function LabelFields({ matchers, onChange }: LabelFieldsProps) {
  const change = (index: number, part: Partial<LabelMatcher>): void =>
    onChange(matchers.map((matcher, place) => (place === index ? { ...matcher, ...part } : matcher)));
  return (
    <fieldset className={classes.labels}>
      <legend>{matchers.length === 0 ? 'All its series count' : 'Only series with'}</legend>
      {matchers.map(({ label, operator, value }, index) => (
        // Lines have no identity of their own.
        // eslint-disable-next-line react/no-array-index-key
        <div key={index} className={classes.matcher}>
          <TextInput
            aria-label={`Label ${index + 1}`}
            placeholder="label"
            value={label}
            onChange={(event) => change(index, { label: event.currentTarget.value })}
          />
          <NativeSelect
            aria-label={`Comparison of label ${index + 1}`}
            value={operator}
            data={[...OPERATORS]}
            onChange={(event) => {
              const chosen = OPERATORS.find((known) => known.value === event.currentTarget.value);
              if (chosen !== undefined) change(index, { operator: chosen.value });
            }}
          />
          <TextInput
            aria-label={`Value of label ${index + 1}`}
            placeholder="value"
            value={value}
            onChange={(event) => change(index, { value: event.currentTarget.value })}
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
