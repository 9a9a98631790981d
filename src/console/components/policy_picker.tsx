import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { policyQuery, policySearchQuery } from '#console/api/team_pages.ts';
import { isolateBidi } from '#console/components/bidi.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface PolicyPickerProps {
  /** The id of a policy, or the value of one of the choices before the policies. */
  readonly value: string | null;
  onChange(value: string | null): void;
  readonly label: string;
  readonly placeholder: string;
  readonly description?: string | undefined;
  /** What clearing it means; without this it cannot be cleared. */
  readonly clearLabel?: string;
  readonly before?: readonly { readonly value: string; readonly label: string }[];
  readonly error: ReactNode;
}

const DEBOUNCE_MS = 150;
const MORE = 'more';

/** Selects one of any number of escalation policies. The server searches for what is typed. */
export function PolicyPicker(props: PolicyPickerProps) {
  const { value, onChange, label, placeholder, description, clearLabel, before = [], error } = props;
  const { orgId } = useOrganization().org;
  const [typed, setTyped] = useState('');
  const other = before.find((choice) => choice.value === value);
  const isPolicy = value !== null && other === undefined;
  const chosen = useQuery({ ...policyQuery(orgId, value ?? ''), enabled: isPolicy }).data;
  const chosenName = other?.label ?? (chosen === undefined || !isPolicy ? null : labelOf(chosen));
  // The field shows the name of what was chosen: nobody searches for it again.
  const [text] = useDebouncedValue(typed === chosenName ? '' : typed.trim(), DEBOUNCE_MS);
  const { data, hasNextPage } = useInfiniteQuery(policySearchQuery(orgId, text.slice(0, 200)));
  const found = data?.pages.flatMap(({ policies }) => policies) ?? [];
  const isListed = !isPolicy || found.some(({ policyId }) => policyId === value);
  const shown = isListed || chosen === undefined ? found : [chosen, ...found];
  const groups = [...Map.groupBy(shown, ({ teamId }) => teamId).values()].map((policies) => ({
    group: isolateBidi(policies[0]?.teamName ?? ''),
    items: policies.map((policy) => ({ value: policy.policyId, label: labelOf(policy) })),
  }));
  const others = before.filter((choice) => choice.label.toLowerCase().includes(text.toLowerCase()));
  const more = { value: MORE, label: 'Type part of a name to find others', disabled: true };
  return (
    <Select
      label={label}
      placeholder={placeholder}
      data={[...others, ...groups, ...(hasNextPage ? [more] : [])]}
      value={value}
      onChange={onChange}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options}
      clearable={clearLabel !== undefined}
      allowDeselect={clearLabel !== undefined}
      {...(clearLabel !== undefined && { clearButtonProps: { 'aria-label': clearLabel } })}
      nothingFoundMessage={data === undefined ? 'Loading …' : 'No policy has this name'}
      description={description}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      error={error}
    />
  );
}

function labelOf({ name, steps }: { readonly name: string; readonly steps: readonly unknown[] }): string {
  return steps.length === 0 ? `${isolateBidi(name)}, no steps` : isolateBidi(name);
}
