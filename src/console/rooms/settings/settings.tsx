import { Link, Outlet } from '@tanstack/react-router';

import classes from '#console/rooms/settings/settings.module.css';
import { SETTINGS } from '#console/shell/navigation.ts';
import { useHere } from '#console/shell/organization.tsx';

/** What concerns the organization as a whole. */
export function Settings() {
  const { isAdmin } = useHere();
  return (
    <>
      <div className={classes.strip}>
        <nav className={classes.nav} aria-label="Settings">
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
