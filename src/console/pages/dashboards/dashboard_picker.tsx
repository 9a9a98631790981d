import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { dashboardQuery, dashboardSearchQuery } from '#console/api/dashboards.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import type { Option } from '#console/components/forms/option_list.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const OPTIONS_MAX = 20;

interface DashboardPickerProps {
  readonly value: string | null;
  onChange(dashboardId: string | null): void;
  readonly label: string;
  readonly placeholder: string;
  readonly description?: string;
  /** Option that stands before all dashboards. */
  readonly before?: Option;
  /** Meaning of the cleared field; without it the field cannot be cleared. */
  readonly clearLabel?: string;
  readonly error?: ReactNode;
  readonly isFocused?: boolean;
}

/** Picker of one of any number of dashboards. The server searches for what is typed. */
export function DashboardPicker(props: DashboardPickerProps) {
  const { value, onChange, label, placeholder, description, before, clearLabel, error, isFocused = false } = props;
  const { orgId } = useOrganization().org;
  const [typed, setTyped] = useState('');
  const text = useDebounced(typed.trim());
  const { data } = useInfiniteQuery({
    ...dashboardSearchQuery(orgId, { limit: OPTIONS_MAX, ...(text !== '' && { text }) }),
    placeholderData: keepPreviousData,
  });
  const matches = data?.pages.flatMap(({ dashboards }) => dashboards) ?? [];
  const isListed = value === null || value === before?.value || matches.some((match) => match.dashboardId === value);
  const chosen = useQuery({ ...dashboardQuery(orgId, value ?? ''), enabled: !isListed, retry: false });
  const name = chosen.isError ? 'A dashboard that is gone' : chosen.data?.name;
  return (
    <Choice
      label={label}
      placeholder={placeholder}
      description={description}
      options={[
        ...(before === undefined ? [] : [before]),
        ...(isListed || name === undefined ? [] : [{ value, label: isolateBidi(name) }]),
        ...matches.map((dashboard) => ({ value: dashboard.dashboardId, label: isolateBidi(dashboard.name) })),
      ]}
      further={(data?.pages[0]?.total ?? 0) - matches.length}
      value={value}
      onChange={onChange}
      onSearch={setTyped}
      error={error}
      {...(clearLabel !== undefined && { clearLabel })}
      {...(isFocused && { 'data-autofocus': true })}
    />
  );
}
