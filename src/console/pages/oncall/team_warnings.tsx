import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { teamWarningsQuery } from '#console/api/home.ts';
import { Name, Sentence } from '#console/components/name.tsx';
import { inLocalTime } from '#console/pages/policies/warnings.tsx';
import classes from '#console/pages/policies/warnings.module.css';
import { useOrganization } from '#console/shell/organization.tsx';

const SHOWN_MAX = 5;

/** Why pages of the teams might reach nobody, beside gaps: one line each, with the way to where it is mended. */
export function TeamWarnings({ teamId }: { readonly teamId: string | undefined }) {
  const { data } = useQuery(teamWarningsQuery(useOrganization().org.orgId));
  if (data === undefined) return null;
  const { warnings, warningCount } = data;
  const meant = warnings.filter((warning) => teamId === undefined || warning.teamId === teamId);
  const left = (teamId === undefined ? warningCount : meant.length) - Math.min(meant.length, SHOWN_MAX);
  if (meant.length === 0) return null;
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
