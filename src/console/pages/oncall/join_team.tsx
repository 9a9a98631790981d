import { Checkbox } from '@mantine/core';

import { showError } from '#console/components/notice.tsx';

interface JoinTeamProps {
  /** People who take turns and are no members of the team. */
  readonly strangers: readonly string[];
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

/** Choice to make those who take turns members of the team; nothing where all are. */
export function JoinTeam({ strangers, isChecked, onChange }: JoinTeamProps) {
  if (strangers.length === 0) return null;
  return (
    <Checkbox
      label="Make everybody who takes turns a member of the team"
      description="Members are also paged with the whole team."
      checked={isChecked}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}

export function showNotJoined(error: unknown): void {
  showError('Not everybody became a member of the team', error);
}
