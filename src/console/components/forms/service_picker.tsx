import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { serviceSearchQuery } from '#console/api/services.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const OPTIONS_MAX = 20;

/** Value of the option that names no service. */
const NOT_NAMED = '';

interface ServicePickerProps {
  readonly value: string | undefined;
  onChange(serviceId: string | undefined): void;
  /** Label above the field; without one the field narrows a list, and no choice means all services. */
  readonly label?: string;
  readonly placeholder?: string;
  /** Name of the chosen service, if the page has it already. */
  readonly name?: string | undefined;
  /** Whether one is always chosen: the field cannot be cleared. */
  readonly isRequired?: boolean;
  /** Label of the option that stands before all services, and means that none is named. */
  readonly before?: string;
  readonly error?: ReactNode;
}

/** Picker of one of any number of services. The server searches for what is typed. */
export function ServicePicker(props: ServicePickerProps) {
  const { value, onChange, label, name, before, isRequired = before !== undefined, error } = props;
  const { placeholder = isRequired ? 'Choose a service' : 'All services' } = props;
  const { orgId } = useOrganization().org;
  const [isNear, setIsNear] = useState(false);
  const [typed, setTyped] = useState('');
  const text = useDebounced(typed);
  const isNamed = value !== undefined && name !== undefined;
  const chosen = useInfiniteQuery({
    ...serviceSearchQuery(orgId, { serviceIds: value === undefined ? [] : [value], limit: 1 }),
    enabled: value !== undefined && !isNamed,
  }).data?.pages[0]?.services[0];
  const selected = isNamed ? { serviceId: value, name } : chosen;
  const { data } = useInfiniteQuery({
    ...serviceSearchQuery(orgId, { limit: OPTIONS_MAX, ...(text !== '' && { text }) }),
    placeholderData: keepPreviousData,
    enabled: isNear,
  });
  const matches = data?.pages.flatMap(({ services }) => services) ?? [];
  const others = matches.filter(({ serviceId }) => serviceId !== selected?.serviceId);
  const options = selected === undefined ? others : [selected, ...others];
  const further = (data?.pages[0]?.total ?? 0) - matches.length;
  return (
    <Choice
      label={label ?? 'Service'}
      isLabelHidden={label === undefined}
      placeholder={placeholder}
      error={error}
      options={[
        ...(before === undefined ? [] : [{ value: NOT_NAMED, label: before }]),
        ...options.map((option) => ({ value: option.serviceId, label: isolateBidi(option.name) })),
      ]}
      further={further}
      value={selected?.serviceId ?? (before === undefined || value !== undefined ? null : NOT_NAMED)}
      onChange={(serviceId) => onChange(serviceId === NOT_NAMED ? undefined : (serviceId ?? undefined))}
      onSearch={setTyped}
      onNear={() => setIsNear(true)}
      emptyText={data === undefined ? 'Loading …' : 'No service has this name'}
      {...(!isRequired && { clearLabel: label === undefined ? 'All services' : 'Choose another service' })}
    />
  );
}
