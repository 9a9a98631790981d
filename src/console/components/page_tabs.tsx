import type { Icon } from '@tabler/icons-react';
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

import classes from '#console/components/page_tabs.module.css';
import type { FixedPath } from '#console/shell/navigation.tsx';

interface PageTabsProps {
  readonly label: string;
  readonly tabs: readonly { readonly to: FixedPath; readonly label: string; readonly icon?: Icon }[];
  /** Address of the tab with which those of the others begin. */
  readonly exact?: FixedPath;
}

/** Tabs of related pages, above each of them. */
export function PageTabs({ label, tabs, exact }: PageTabsProps) {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // On a phone not all tabs fit.
  useEffect(() => {
    nav.current?.querySelector('[data-status=active]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [pathname]);
  return (
    <div className={classes.strip}>
      <nav ref={nav} className={classes.nav} aria-label={label}>
        {tabs.map(({ to, label: name, icon: Icon }) => (
          <Link key={to} to={to} activeOptions={{ exact: to === exact, includeSearch: false }} className={classes.tab}>
            {Icon !== undefined && <Icon size={17} stroke={1.75} aria-hidden />}
            {name}
          </Link>
        ))}
      </nav>
    </div>
  );
}
