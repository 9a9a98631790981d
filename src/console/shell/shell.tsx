import { ActionIcon, Kbd, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouter } from '@tanstack/react-router';
import { lazy, type MouseEvent, Suspense, useCallback, useEffect, useRef, useState } from 'react';

import { incidentCountsQuery } from '#console/api/incidents.ts';
import { useCloseOnBack } from '#console/components/use_close_on_back.ts';
import { Banners } from '#console/shell/banners.tsx';
import { useShortcuts } from '#console/shell/keyboard.ts';
import { LiveChanges } from '#console/shell/live_changes.tsx';
import { NAVIGATION } from '#console/shell/navigation.ts';
import { OrganizationMenu } from '#console/shell/organization_menu.tsx';
import { OrganizationProvider, useOrganization } from '#console/shell/organization.tsx';
import { UserMenu } from '#console/shell/user_menu.tsx';
import classes from '#console/shell/shell.module.css';
import { StepUp } from '#console/shell/step_up.tsx';
import { NoOrganization } from '#console/shell/no_organization.tsx';

const Palette = lazy(() => import('#console/shell/palette.tsx').then((m) => ({ default: m.Palette })));
const SecondFactorRequired = lazy(() =>
  import('#console/shell/second_factor_required.tsx').then((m) => ({ default: m.SecondFactorRequired })),
);
const KeyboardHelp = lazy(() => import('#console/shell/keyboard_help.tsx').then((m) => ({ default: m.KeyboardHelp })));

/** What surrounds every room of somebody who is signed in. */
export function Shell() {
  return (
    <OrganizationProvider without={<NoOrganization />}>
      <StepUp />
      <Inside />
    </OrganizationProvider>
  );
}

function Inside() {
  const { session, org, isAdmin } = useOrganization();
  if (org.secondFactorRequired && isAdmin && !session.user.hasSecondFactor) {
    return (
      <Suspense>
        <SecondFactorRequired />
      </Suspense>
    );
  }
  return (
    <LiveChanges>
      <Frame />
    </LiveChanges>
  );
}

type Above = 'palette' | 'keys' | null;

function Frame() {
  const { above, isAboveNow, openKeys, openPalette, togglePalette, close } = useAbove();
  const { org } = useOrganization();
  const main = useRef<HTMLElement>(null);
  useShortcuts({ onHelp: openKeys, isOpening: isAboveNow });
  usePaletteKey(togglePalette);
  useCloseOnBack(above === 'palette', close);
  useClosedByNavigation(close);
  useFocusAfterNavigation();
  const [wasAsked, setWasAsked] = useState(false);
  if (above === 'palette' && !wasAsked) setWasAsked(true);
  const skip = (event: MouseEvent): void => {
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <>
      <a href="#content" className={classes.skip} onClick={skip}>
        Skip to the content
      </a>
      <div className={classes.frame}>
        <aside className={classes.side}>
          <OrganizationMenu />
          <UnstyledButton className={classes.search} onClick={openPalette}>
            <IconSearch size={16} aria-hidden /> Search <Kbd size="xs">{isApple() ? '⌘' : 'Ctrl'} K</Kbd>
          </UnstyledButton>
          <nav aria-label="Rooms">
            <Places />
          </nav>
          <div className={classes.foot}>
            <UserMenu onKeys={openKeys} />
          </div>
        </aside>
        <header className={classes.top}>
          <OrganizationMenu />
          <div>
            <ActionIcon variant="subtle" color="gray" size={44} onClick={openPalette} aria-label="Search">
              <IconSearch size={20} />
            </ActionIcon>
            <UserMenu onKeys={openKeys} isCompact />
          </div>
        </header>
        <main id="content" className={classes.main} ref={main} tabIndex={-1} key={org.orgId}>
          <Banners />
          <Outlet />
        </main>
        <nav className={classes.bottom} aria-label="Rooms, on a phone">
          <Places />
        </nav>
      </div>
      <Suspense>
        {wasAsked && <Palette isOpen={above === 'palette'} onClose={close} />}
        {above === 'keys' && <KeyboardHelp onClose={close} />}
      </Suspense>
    </>
  );
}

/** What lies above the page; the keys that are pressed before it is drawn know of it already. */
function useAbove() {
  const [above, setAbove] = useState<Above>(null);
  const now = useRef<Above>(null);
  const show = useCallback((next: Above): void => {
    now.current = next;
    setAbove(next);
  }, []);
  return {
    above,
    isAboveNow: useCallback(() => now.current !== null, []),
    openKeys: useCallback(() => show('keys'), [show]),
    openPalette: useCallback(() => show('palette'), [show]),
    togglePalette: useCallback(() => show(now.current === 'palette' ? null : 'palette'), [show]),
    close: useCallback(() => show(null), [show]),
  };
}

function Places() {
  const { org } = useOrganization();
  const waiting = useQuery(incidentCountsQuery(org.orgId)).data?.triggered ?? 0;
  return NAVIGATION.map(({ to, label, icon: Icon }) => (
    <Link key={to} to={to} activeOptions={{ exact: to === '/' }} className={classes.place}>
      <Icon size={20} stroke={1.75} aria-hidden />
      {label}
      {to === '/incidents' && waiting > 0 && (
        <span className={classes.count}>
          {waiting > 99 ? '99+' : waiting}
          <VisuallyHidden> waiting</VisuallyHidden>
        </span>
      )}
    </Link>
  ));
}

const isApple = (): boolean => /Mac|iP(?:hone|ad)/.test(navigator.userAgent);

function usePaletteKey(onKeys: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (!event.repeat) onKeys();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [onKeys]);
}

/** What lies above a page does not stay for the next one. */
function useClosedByNavigation(close: () => void): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onBeforeNavigate', ({ pathChanged }) => {
        if (pathChanged) close();
      }),
    [router, close],
  );
}

/** Whoever cannot see that the page has changed is taken to its title. */
function useFocusAfterNavigation(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged }) => {
        if (pathChanged) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
      }),
    [router],
  );
}
