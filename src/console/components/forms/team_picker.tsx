import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { teamNamesQuery } from '#console/api/teams.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const OPTIONS_MAX = 20;

interface TeamPickerProps {
  readonly value: string | null;
  onChange(teamId: string | null): void;
  /** Label above the field, unless `isLabelHidden`. */
  readonly label: string;
  readonly isLabelHidden?: boolean;
  /** Meaning of an empty choice, where that is allowed. */
  readonly placeholder: string;
  readonly isRequired?: boolean;
  readonly error?: ReactNode;
  readonly className?: string | undefined;
  readonly isFocused?: boolean;
  readonly isDisabled?: boolean;
}

/** Picker of one of any number of teams. The server searches for what is typed. */
export function TeamPicker(props: TeamPickerProps) {
  const { value, onChange, label, isLabelHidden = false, placeholder, isRequired = false, error, className } = props;
  const { isFocused = false, isDisabled = false } = props;
  const { orgId } = useOrganization().org;
  const [isNear, setIsNear] = useState(false);
  const [typed, setTyped] = useState('');
  const chosen = useTeamName(value);
  const chosenName = chosen === undefined ? null : isolateBidi(chosen);
  const text = useDebounced(typed.trim().slice(0, 200));
  const { data } = useQuery({
    ...teamNamesQuery(orgId, { limit: OPTIONS_MAX, ...(text !== '' && { text }) }),
    placeholderData: keepPreviousData,
    enabled: isNear,
  });
  const teams = (data?.teams ?? []).map(({ teamId, name }) => ({ value: teamId, label: isolateBidi(name) }));
  const isListed = value === null || chosenName === null || teams.some((team) => team.value === value);
  const shown = isListed ? teams : [{ value, label: chosenName }, ...teams];
  return (
    <Choice
      label={label}
      isLabelHidden={isLabelHidden}
      placeholder={placeholder}
      error={error}
      className={className}
      disabled={isDisabled}
      options={shown}
      further={(data?.total ?? 0) - (data?.teams.length ?? 0)}
      value={value}
      onChange={onChange}
      onSearch={setTyped}
      onNear={() => setIsNear(true)}
      opensOnFocus={false}
      emptyText={data === undefined ? 'Loading …' : 'No team has this name'}
      {...(!isRequired && { clearLabel: placeholder })}
      {...(isFocused && { 'data-autofocus': true })}
    />
  );
}

/** Returns the name of a team; undefined while it is loading, without a team, and if it was deleted. */
export function useTeamName(teamId: string | null): string | undefined {
  const { orgId } = useOrganization().org;
  const { data } = useQuery({
    ...teamNamesQuery(orgId, { teamIds: teamId === null ? [] : [teamId] }),
    enabled: teamId !== null,
    staleTime: 60_000,
  });
  return data?.teams[0]?.name;
}
