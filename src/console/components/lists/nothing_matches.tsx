import { Button } from '@mantine/core';
import { IconFilterOff } from '@tabler/icons-react';

import { EmptyState } from '#console/components/lists/empty_state.tsx';

interface NothingMatchesProps {
  /** Noun for one of the listed things. */
  readonly what: string;
  readonly onClear: () => void;
}

/** Placeholder of a list whose filters match nothing. */
export function NothingMatches({ what, onClear }: NothingMatchesProps) {
  return (
    <EmptyState
      icon={<IconFilterOff size={24} />}
      title="Nothing matches"
      actions={
        <Button variant="default" onClick={onClear}>
          Clear the filters
        </Button>
      }
    >
      No {what} matches these filters.
    </EmptyState>
  );
}
