import type { ReactNode } from 'react';

import type { Incident } from '#console/api/actions.ts';
import classes from '#console/components/status.module.css';

export type Tone = 'red' | 'amber' | 'green' | 'blue' | 'gray';

interface StatusProps {
  readonly tone: Tone;
  readonly children: ReactNode;
  /** Whether somebody has to act now. */
  readonly isUrgent?: boolean;
}

/** State as a word with a colour; the colour alone never carries the meaning. */
export function Status({ tone, children, isUrgent = false }: StatusProps) {
  return (
    <span className={`${classes.status} ${classes[tone]} ${isUrgent ? classes.pulse : ''}`}>
      <span className={classes.dot} aria-hidden />
      {children}
    </span>
  );
}

export const STATUS_TONES: Record<Incident['status'], Tone> = {
  triggered: 'red',
  acknowledged: 'amber',
  resolved: 'green',
};

const STATUS_NAMES: Record<Incident['status'], string> = {
  triggered: 'Triggered',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
};

export function IncidentStatus({ status }: Pick<Incident, 'status'>) {
  return (
    <Status tone={STATUS_TONES[status]} isUrgent={status === 'triggered'}>
      {STATUS_NAMES[status]}
    </Status>
  );
}
