import { VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { incidentCountsQuery } from '#console/api/incidents.ts';
import type { NavigationEntry } from '#console/shell/navigation.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/shell/shell.module.css';

interface NavigationLinkProps {
  readonly entry: NavigationEntry;
  readonly onClick?: () => void;
}

/** Link of the navigation. That of incidents shows how many wait for somebody. */
export function NavigationLink({ entry: { to, label, icon: Icon }, onClick }: NavigationLinkProps) {
  const { org } = useOrganization();
  const { data } = useQuery({ ...incidentCountsQuery(org.orgId), enabled: to === '/incidents' });
  const waiting = to === '/incidents' ? (data?.triggered ?? 0) : 0;
  return (
    <Link to={to} activeOptions={{ exact: to === '/' }} className={classes.link} onClick={onClick}>
      <Icon size={20} stroke={1.75} aria-hidden />
      {label}
      {waiting > 0 && (
        <span className={classes.count}>
          {waiting > 99 ? '99+' : waiting}
          <VisuallyHidden> waiting</VisuallyHidden>
        </span>
      )}
    </Link>
  );
}
