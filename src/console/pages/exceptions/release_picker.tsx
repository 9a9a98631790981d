import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery } from '#console/api/queries.ts';
import { withChosen } from '#console/pages/exceptions/with_chosen.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const DEBOUNCE_MS = 150;

export interface ReleasePickerProps {
  readonly serviceId: string | undefined;
  readonly value: string | undefined;
  onChange(release: string | undefined): void;
  /** What was typed before it was loaded. */
  readonly initialText: string;
  /** It takes the focus of what it replaces. */
  readonly isFocused: boolean;
}

/** One of any number of releases: the server searches for what is typed. */
export function ReleasePicker({ serviceId, value, onChange, initialText, isFocused }: ReleasePickerProps) {
  const { orgId } = useOrganization().org;
  const [typed, setTyped] = useState(initialText);
  const [text] = useDebouncedValue(typed, DEBOUNCE_MS);
  const release = text === value ? '' : text.slice(0, 200);
  const { data } = useQuery({
    ...actionQuery(orgId, 'exceptions', 'list_exception_origins', {
      ...(serviceId !== undefined && { serviceId }),
      ...(release !== '' && { release }),
    }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return (
    <Select
      aria-label="Release"
      placeholder="Any release"
      data={[...withChosen(data?.releases ?? [], value)]}
      value={value ?? null}
      onChange={(chosen) => onChange(chosen ?? undefined)}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options}
      nothingFoundMessage="No release has this name"
      clearable
      autoFocus={isFocused}
      defaultDropdownOpened={isFocused}
      clearButtonProps={{ 'aria-label': 'Any release' }}
    />
  );
}
