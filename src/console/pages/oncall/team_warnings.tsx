import { IconAlertTriangle } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';

import type { ResultOf } from '#console/api/actions.ts';
import { Name, Sentence } from '#console/components/text/name.tsx';
import { inLocalTime } from '#console/pages/policies/warnings.tsx';
import { UNREADABLE_KINDS } from '#modules/unreadable_rows/decide/unreadable_kinds.ts';
import classes from '#console/pages/policies/warnings.module.css';

const SHOWN_MAX = 5;

interface TeamWarningsProps {
  /** Warnings; undefined if they could not be loaded. */
  readonly warnings: ResultOf<'get_paging_problems'> | undefined;
  /** Team whose warnings are shown; undefined for all teams. */
  readonly teamId: string | undefined;
}

/** List of why pages of the teams might reach nobody, besides gaps: one line each, with a link to the fix. */
export function TeamWarnings({ warnings: passed, teamId }: TeamWarningsProps) {
  const { warnings = [], warningCount = 0, unreadable = [] } = passed ?? {};
  const meant = warnings.filter((warning) => teamId === undefined || warning.teamId === teamId);
  const left = (teamId === undefined ? warningCount : meant.length) - Math.min(meant.length, SHOWN_MAX);
  // Teams warn of their own policies and schedules.
  const others = teamId === undefined ? unreadable.filter(({ kind }) => kind !== 'policy' && kind !== 'schedule') : [];
  if (meant.length === 0 && others.length === 0) return null;
  return (
    <ul className={classes.warnings} aria-label="Warnings">
      {meant.slice(0, SHOWN_MAX).map(({ teamId: id, teamName, message, policyId }) => (
        <li key={`${id} ${message}`} className={classes.warning}>
          <IconAlertTriangle size={16} stroke={1.75} aria-hidden />
          <span>
            {policyId === null ? (
              <Link to="/oncall/teams/$teamId" params={{ teamId: id }}>
                <Name>{teamName}</Name>
              </Link>
            ) : (
              <Link to="/oncall/policies/$policyId" params={{ policyId }}>
                <Name>{teamName}</Name>
              </Link>
            )}
            : <Sentence>{inLocalTime(message)}</Sentence>
          </span>
        </li>
      ))}
      {others.map(({ kind, message }) => (
        <li key={message} className={classes.warning}>
          <IconAlertTriangle size={16} stroke={1.75} aria-hidden />
          <Link to={UNREADABLE_KINDS[kind].page}>
            <Sentence>{message}</Sentence>
          </Link>
        </li>
      ))}
      {left > 0 && (
        <li className={classes.warning}>
          <Link to="/oncall/teams">
            And {left} more in {left === 1 ? 'a team' : 'teams'}
          </Link>
        </li>
      )}
    </ul>
  );
}
