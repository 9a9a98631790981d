import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

import classes from '#console/rooms/settings/settings.module.css';
import { SETTINGS } from '#console/shell/navigation.ts';
import { useHere } from '#console/shell/organization.tsx';

/** What concerns the organization as a whole. */
export function Settings() {
  const { isAdmin } = useHere();
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // On a phone they do not all fit.
  useEffect(() => {
    nav.current?.querySelector('[data-status=active]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [pathname]);
  return (
    <>
      <div className={classes.strip}>
        <nav ref={nav} className={classes.nav} aria-label="Settings">
          {SETTINGS.filter(({ isForAdmins }) => isAdmin || !isForAdmins).map(({ to, label, icon: Icon }) => (
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
