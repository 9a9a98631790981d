import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { serviceSearchQuery } from '#console/api/services.ts';
import { isolateBidi } from '#console/components/bidi.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Somebody who types is not asked for after each letter. */
const TYPED_MS = 150;
const OFFERED_MAX = 20;

interface ServicePickerProps {
  readonly value: string | undefined;
  onChange(serviceId: string | undefined): void;
}

/** Picks one of any number of services: the server finds them by what is typed. */
export function ServicePicker({ value, onChange }: ServicePickerProps) {
  const { orgId } = useOrganization().org;
  const [typed, setTyped] = useState('');
  const [text] = useDebouncedValue(typed, TYPED_MS);
  const chosen = useInfiniteQuery({
    ...serviceSearchQuery(orgId, { serviceIds: value === undefined ? [] : [value], limit: 1 }),
    enabled: value !== undefined,
  }).data?.pages[0]?.services[0];
  const isChosenName = chosen !== undefined && text === isolateBidi(chosen.name);
  const { data } = useInfiniteQuery({
    ...serviceSearchQuery(orgId, { limit: OFFERED_MAX, ...(text !== '' && !isChosenName && { text }) }),
    placeholderData: keepPreviousData,
  });
  const found = data?.pages.flatMap(({ services }) => services) ?? [];
  const others = found.filter(({ serviceId }) => serviceId !== chosen?.serviceId);
  const offered = chosen === undefined ? others : [chosen, ...others];
  return (
    <Select
      aria-label="Service"
      placeholder="All services"
      data={offered.map(({ serviceId, name }) => ({ value: serviceId, label: isolateBidi(name) }))}
      value={chosen?.serviceId ?? null}
      onChange={(serviceId) => onChange(serviceId ?? undefined)}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options}
      nothingFoundMessage="No service has this name"
      clearable
      clearButtonProps={{ 'aria-label': 'All services' }}
    />
  );
}
