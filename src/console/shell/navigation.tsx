import { VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { createContext, useContext } from 'react';

import { incidentCountsQuery } from '#console/api/incidents.ts';
import type { Icon } from '#console/icons.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import type { PAGES, SETTINGS_PAGES } from '#modules/pages/decide/pages.ts';
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
    <Link
      to={to}
      activeOptions={{ exact: to === '/' }}
      className={`${classes.link} row dimmed small`}
      onClick={onClick}
    >
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

type Page = (typeof PAGES)[keyof typeof PAGES];
type SettingsPage = `${typeof PAGES.settings}${(typeof SETTINGS_PAGES)[keyof typeof SETTINGS_PAGES]}`;

/** Address of a page that needs no id. */
export type FixedPath = Exclude<Page, `${string}$${string}`> | SettingsPage;

/** Page that every page links to. */
export interface NavigationEntry {
  readonly to: FixedPath;
  readonly label: string;
  readonly icon: Icon;
  /** Letter after `g`. A letter that acts on a page (a, r, u, x, j, k) is not used: typed too slowly, it would act. */
  readonly key: string;
  /** Group, whose entries stand together. */
  readonly group: 'respond' | 'watch' | 'own';
  /** Whether it is in the bar at the bottom of a phone, which holds four; the others are behind More. */
  readonly isInBar: boolean;
}

export interface SettingsEntry {
  readonly to: SettingsPage;
  readonly label: string;
  /** Tab under which it stands with others, by its name. */
  readonly group: string;
  readonly isForAdmins: boolean;
}

interface Navigation {
  readonly main: readonly NavigationEntry[];
  readonly settings: readonly SettingsEntry[];
}

/** Context of the navigation, provided by the router, which declares the pages. */
export const NavigationContext = createContext<Navigation>({ main: [], settings: [] });

export const useNavigation = (): Navigation => useContext(NavigationContext);
