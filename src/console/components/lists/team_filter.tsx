import { NativeSelect } from '@mantine/core';

import { useTeamName } from '#console/components/forms/team_picker.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';

const MY_TEAMS = 'my_teams';

interface TeamFilterProps {
  /** `my_teams`, or the id of a team. */
  readonly value: string | undefined;
  onChange(value: string | undefined): void;
}

/** Filter of a list by the teams that own its services: those of the viewer, or the one of a link. */
export function TeamFilter({ value = '', onChange }: TeamFilterProps) {
  const isTeam = value !== '' && value !== MY_TEAMS;
  const name = useTeamName(isTeam ? value : null);
  return (
    <NativeSelect
      aria-label="Team"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
      data={[
        { value: '', label: 'All teams' },
        { value: MY_TEAMS, label: 'My teams' },
        ...(isTeam ? [{ value, label: name === undefined ? 'One team' : isolateBidi(name) }] : []),
      ]}
    />
  );
}
