import { Button, Text } from '@mantine/core';
import type { ReactNode } from 'react';

import classes from '#console/components/lists/empty_state.module.css';
import { IconFilterOff } from '#console/icons.ts';

interface EmptyStateProps {
  readonly icon: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  /** Whether being empty is good news here. */
  readonly isCalm?: boolean;
}

/** Empty state: says why there is nothing here, and what to do about it. */
export function EmptyState({ icon, title, children, actions, isCalm = false }: EmptyStateProps) {
  return (
    <div className={`${classes.blank} ${isCalm ? classes.calm : ''}`}>
      <div className={classes.icon} aria-hidden>
        {icon}
      </div>
      <Text fw={600}>{title}</Text>
      {children !== undefined && <div className={`${classes.text} dimmed small flush`}>{children}</div>}
      {actions !== undefined && <div className={`${classes.actions} wraps spaced`}>{actions}</div>}
    </div>
  );
}

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
