import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

import classes from '#console/pages/settings/settings.module.css';
import { useNavigation } from '#console/shell/navigation.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Settings of the organization. */
export function Settings() {
  const { isAdmin } = useOrganization();
  const { settings } = useNavigation();
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // On a phone not all tabs fit.
  useEffect(() => {
    nav.current?.querySelector('[data-status=active]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [pathname]);
  return (
    <>
      <div className={classes.strip}>
        <nav ref={nav} className={classes.nav} aria-label="Settings">
          {settings
            .filter(({ isForAdmins }) => isAdmin || !isForAdmins)
            .map(({ to, label, icon: Icon }) => (
              <Link key={to} to={to} className={classes.tab}>
                <Icon size={17} stroke={1.75} aria-hidden />
                {label}
              </Link>
            ))}
        </nav>
      </div>
      <Outlet />
    </>
  );
}
