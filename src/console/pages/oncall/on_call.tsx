import { Link, Outlet } from '@tanstack/react-router';

import classes from '#console/pages/oncall/on_call.module.css';
import { ON_CALL_TABS } from '#console/pages/oncall/tabs.ts';
import { PAGES } from '#core/console/pages.ts';

/** The frame of the pages of on-call that have a tab. */
export function OnCall() {
  return (
    <>
      <div className={classes.strip}>
        <nav className={classes.nav} aria-label="On-call">
          {ON_CALL_TABS.map(({ to, label }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === PAGES.onCall, includeSearch: false }}
              className={classes.tab}
            >
              {label}
            </Link>
          ))}
        </nav>
      </div>
      <Outlet />
    </>
  );
}
