import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { policyQuery, policySearchQuery } from '#console/api/team_pages.ts';
import { isolateBidi } from '#console/components/bidi.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface PolicyPickerProps {
  readonly value: string | null;
  onChange(policyId: string | null): void;
  readonly error: string | undefined;
}

const DEBOUNCE_MS = 150;
const MORE = 'more';

/** Selects the escalation policy that a rule pages by. The server searches. */
export function PolicyPicker({ value, onChange, error }: PolicyPickerProps) {
  const { orgId } = useOrganization().org;
  const [typed, setTyped] = useState('');
  const chosen = useQuery({ ...policyQuery(orgId, value ?? ''), enabled: value !== null }).data;
  const chosenName = chosen === undefined || value === null ? null : isolateBidi(chosen.name);
  // The field shows the name of what was chosen: nobody searches for it again.
  const [text] = useDebouncedValue(typed === chosenName ? '' : typed.trim(), DEBOUNCE_MS);
  const { data, hasNextPage } = useInfiniteQuery(policySearchQuery(orgId, text.slice(0, 200)));
  const found = data?.pages.flatMap(({ policies }) => policies) ?? [];
  const isListed = chosenName === null || found.some(({ policyId }) => policyId === value);
  const shown = isListed || chosen === undefined ? found : [chosen, ...found];
  const groups = [...Map.groupBy(shown, ({ teamId }) => teamId).values()].map((policies) => ({
    group: isolateBidi(policies[0]?.teamName ?? ''),
    items: policies.map(({ policyId, name }) => ({ value: policyId, label: isolateBidi(name) })),
  }));
  return (
    <Select
      label="Pages by"
      placeholder="Nobody is paged"
      data={
        hasNextPage ? [...groups, { value: MORE, label: 'Type part of a name to find others', disabled: true }] : groups
      }
      value={value}
      onChange={onChange}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options}
      clearable
      clearButtonProps={{ 'aria-label': 'Page nobody' }}
      nothingFoundMessage={data === undefined ? 'Loading …' : 'No policy has this name'}
      description={value === null ? 'Without an escalation policy it opens incidents and pages nobody.' : undefined}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      error={error}
    />
  );
}
