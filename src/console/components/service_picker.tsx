import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { serviceSearchQuery } from '#console/api/services.ts';
import { isolateBidi } from '#console/components/bidi.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Waits until typing pauses before it asks the server. */
const DEBOUNCE_MS = 150;
const OPTIONS_MAX = 20;

interface ServicePickerProps {
  readonly value: string | undefined;
  onChange(serviceId: string | undefined): void;
  /** Shown above it; without one it narrows a list, and nothing chosen means all of them. */
  readonly label?: string;
  readonly placeholder?: string;
  readonly error?: ReactNode;
  /** What was typed before it was loaded. */
  readonly initialText?: string;
  /** It takes the focus of what it replaces. */
  readonly isFocused?: boolean;
}

/** Selects one of any number of services. The server searches for what is typed. */
export function ServicePicker(props: ServicePickerProps) {
  const { value, onChange, label, placeholder = 'All services', error, initialText = '', isFocused = false } = props;
  const { orgId } = useOrganization().org;
  const [typed, setTyped] = useState(initialText);
  const [text] = useDebouncedValue(typed, DEBOUNCE_MS);
  const selected = useInfiniteQuery({
    ...serviceSearchQuery(orgId, { serviceIds: value === undefined ? [] : [value], limit: 1 }),
    enabled: value !== undefined,
  }).data?.pages[0]?.services[0];
  const isSelectedName = selected !== undefined && text === isolateBidi(selected.name);
  const { data } = useInfiniteQuery({
    ...serviceSearchQuery(orgId, { limit: OPTIONS_MAX, ...(text !== '' && !isSelectedName && { text }) }),
    placeholderData: keepPreviousData,
  });
  const found = data?.pages.flatMap(({ services }) => services) ?? [];
  const others = found.filter(({ serviceId }) => serviceId !== selected?.serviceId);
  const options = selected === undefined ? others : [selected, ...others];
  return (
    <Select
      {...(label === undefined ? { 'aria-label': 'Service' } : { label })}
      placeholder={placeholder}
      error={error}
      data={options.map(({ serviceId, name }) => ({ value: serviceId, label: isolateBidi(name) }))}
      value={selected?.serviceId ?? null}
      onChange={(serviceId) => onChange(serviceId ?? undefined)}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options: all }) => all}
      nothingFoundMessage="No service has this name"
      clearable
      autoFocus={isFocused}
      defaultDropdownOpened={isFocused}
      clearButtonProps={{ 'aria-label': label === undefined ? 'All services' : 'Choose another service' }}
    />
  );
}
