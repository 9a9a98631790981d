import { ActionIcon, Button, Kbd, UnstyledButton } from '@mantine/core';
import { Outlet, useLocation, useRouter } from '@tanstack/react-router';
import { type MouseEvent, useCallback, useEffect, useRef, useState } from 'react';

import { leave } from '#console/api/session.ts';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { useCloseOnBack } from '#console/components/use_close_on_back.ts';
import { IconDots, IconSearch, IconUsersGroup } from '#console/icons.ts';
import { Banners, LiveChanges } from '#console/shell/banners.tsx';
import { useShortcuts } from '#console/shell/keyboard.ts';
import { NavigationLink, useNavigation } from '#console/shell/navigation.tsx';
import { OrganizationProvider, useOrganization } from '#console/shell/organization.tsx';
import { OrganizationButton, OrganizationName } from '#console/shell/organization_button.tsx';
import { StepUp } from '#console/shell/step_up.tsx';
import { UserButton } from '#console/shell/user_button.tsx';
import organizationMenuClasses from '#console/shell/organization_menu.module.css';
import classes from '#console/shell/shell.module.css';

const UserMenuPanel = lazyPart(() => import('#console/shell/user_menu_panel.tsx').then((m) => m.UserMenuPanel));

interface UserMenuProps {
  readonly onKeyboardHelp: () => void;
  readonly isCompact?: boolean;
}

/** Menu of account, theme, help and signing out. */
function UserMenu({ onKeyboardHelp, isCompact = false }: UserMenuProps) {
  const [isWanted, setIsWanted] = useState(false);
  const button = (
    <UserButton
      isCompact={isCompact}
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={UserMenuPanel.preload}
      onFocus={UserMenuPanel.preload}
      onClick={() => setIsWanted(true)}
    />
  );
  if (!isWanted) return button;
  return <UserMenuPanel onKeyboardHelp={onKeyboardHelp} isCompact={isCompact} whileLoading={button} />;
}

/** Page for somebody who was removed from their last organization. */
function NoOrganization() {
  return (
    <main>
      <EmptyState
        icon={<IconUsersGroup size={24} />}
        title="You are not in an organization"
        actions={
          <Button variant="default" onClick={() => void leave()}>
            Log out
          </Button>
        }
      >
        You are logged in, but you are not a member of any organization. Ask an owner or admin to invite you, then open
        the link in the mail.
      </EmptyState>
    </main>
  );
}

const GROUPS = ['respond', 'watch', 'own'] as const;

/** Links to all main pages, at the side of a desktop. */
function SideNavigation() {
  const { main } = useNavigation();
  return (
    <nav aria-label="Main navigation">
      {GROUPS.map((group) => (
        <div key={group} className={classes.group}>
          {main
            .filter((entry) => entry.group === group)
            .map((entry) => (
              <NavigationLink key={entry.to} entry={entry} />
            ))}
        </div>
      ))}
    </nav>
  );
}

const Palette = lazyPart(() => import('#console/shell/palette/palette.tsx').then((m) => m.Palette));
const SecondFactorRequired = lazyPart(() =>
  import('#console/shell/second_factor_required.tsx').then((m) => m.SecondFactorRequired),
);
const KeyboardHelp = lazyPart(() => import('#console/shell/keyboard_help.tsx').then((m) => m.KeyboardHelp));

/** Shell around every page of somebody who is signed in. */
export function Shell() {
  return (
    <OrganizationProvider fallback={<NoOrganization />}>
      <StepUp />
      <Content />
    </OrganizationProvider>
  );
}

function Content() {
  const { session, org, isAdmin } = useOrganization();
  if (org.secondFactorRequired && isAdmin && !session.user.hasSecondFactor) return <SecondFactorRequired />;
  return (
    <LiveChanges>
      <Frame />
    </LiveChanges>
  );
}

type Overlay = 'palette' | 'keyboard_help' | null;

function Frame() {
  const { overlay, isOverlayOpen, openKeyboardHelp, openPalette, togglePalette, close } = useOverlay();
  const { org } = useOrganization();
  const main = useRef<HTMLElement>(null);
  useShortcuts({ onHelp: openKeyboardHelp, isOpening: isOverlayOpen });
  usePaletteShortcut(togglePalette);
  useCloseOnBack(overlay === 'palette', close);
  useCloseOnNavigation(close);
  useFocusAfterNavigation();
  const [isPaletteLoaded, setIsPaletteLoaded] = useState(false);
  if (overlay === 'palette' && !isPaletteLoaded) setIsPaletteLoaded(true);
  const skip = (event: MouseEvent): void => {
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <>
      <a href="#content" className={classes.skip} onClick={skip}>
        Skip to content
      </a>
      <div className={classes.frame}>
        <aside className={`${classes.side} stack`}>
          <OrganizationMenu />
          <UnstyledButton className={`${classes.search} row spaced dimmed small`} onClick={openPalette}>
            <IconSearch size={16} aria-hidden /> Search <Kbd size="xs">{isApple() ? '⌘' : 'Ctrl'} K</Kbd>
          </UnstyledButton>
          <SideNavigation />
          <div className={classes.foot}>
            <UserMenu onKeyboardHelp={openKeyboardHelp} />
          </div>
        </aside>
        <header className={classes.top}>
          <OrganizationMenu />
          <div>
            <ActionIcon variant="subtle" color="gray" size={44} onClick={openPalette} aria-label="Search">
              <IconSearch size={20} />
            </ActionIcon>
            <UserMenu onKeyboardHelp={openKeyboardHelp} isCompact />
          </div>
        </header>
        <main id="content" className={classes.main} ref={main} tabIndex={-1} key={org.orgId}>
          <Banners />
          <Outlet />
        </main>
        <PhoneNavigation />
      </div>
      {isPaletteLoaded && <Palette isOpen={overlay === 'palette'} onClose={close} />}
      {overlay === 'keyboard_help' && <KeyboardHelp onClose={close} />}
    </>
  );
}

/** Keeps the overlay that is open. Shortcuts know of it from the moment it is requested, before it is loaded. */
function useOverlay() {
  const [overlay, setOverlay] = useState<Overlay>(null);
  const requested = useRef<Overlay>(null);
  const show = useCallback((next: Overlay): void => {
    requested.current = next;
    setOverlay(next);
  }, []);
  return {
    overlay,
    isOverlayOpen: useCallback(() => requested.current !== null, []),
    openKeyboardHelp: useCallback(() => show('keyboard_help'), [show]),
    openPalette: useCallback(() => show('palette'), [show]),
    togglePalette: useCallback(() => show(requested.current === 'palette' ? null : 'palette'), [show]),
    close: useCallback(() => show(null), [show]),
  };
}

const isApple = (): boolean => /Mac|iP(?:hone|ad)/.test(navigator.userAgent);

function usePaletteShortcut(onPress: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (!event.repeat) onPress();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [onPress]);
}

function useCloseOnNavigation(close: () => void): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onBeforeNavigate', ({ pathChanged }) => {
        if (pathChanged) close();
      }),
    [router, close],
  );
}

/** Moves the focus to the title of a new page, so that screen readers announce it, unless a field of it has the focus. */
function useFocusAfterNavigation(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged }) => {
        if (!pathChanged || document.querySelector('main input:focus') !== null) return;
        document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
      }),
    [router],
  );
}

const OrganizationMenuPanel = lazyPart(() =>
  import('#console/shell/organization_menu_panel.tsx').then((m) => m.OrganizationMenuPanel),
);

/** Organization, with a menu to switch if there are several. */
function OrganizationMenu() {
  const { session } = useOrganization();
  const [isWanted, setIsWanted] = useState(false);
  if (session.organizations.length === 1) {
    return (
      <div className={`${organizationMenuClasses.org} row small shrinks`}>
        <OrganizationName />
      </div>
    );
  }
  const button = (
    <OrganizationButton
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={OrganizationMenuPanel.preload}
      onFocus={OrganizationMenuPanel.preload}
      onClick={() => setIsWanted(true)}
    />
  );
  return isWanted ? <OrganizationMenuPanel whileLoading={button} /> : button;
}

const PhoneSheet = lazyPart(() => import('#console/shell/phone_sheet.tsx').then((m) => m.PhoneSheet));

/** Bar at the bottom of a phone: the pages needed most, and a sheet with the others. */
function PhoneNavigation() {
  const [isOpen, setIsOpen] = useState(false);
  const close = (): void => setIsOpen(false);
  useCloseOnBack(isOpen, close);
  const { main } = useNavigation();
  const { pathname } = useLocation();
  const isElsewhere = main.some(({ to, isInBar }) => !isInBar && `${pathname}/`.startsWith(`${to}/`));
  return (
    <nav className={classes.bottom} aria-label="Main navigation, on a phone">
      {main
        .filter(({ isInBar }) => isInBar)
        .map((entry) => (
          <NavigationLink key={entry.to} entry={entry} />
        ))}
      <UnstyledButton
        className={`${classes.link} row dimmed small`}
        data-status={isElsewhere ? 'active' : undefined}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPointerDown={PhoneSheet.preload}
        onClick={() => setIsOpen(true)}
      >
        <IconDots size={20} stroke={1.75} aria-hidden />
        More
      </UnstyledButton>
      {isOpen && <PhoneSheet onClose={close} />}
    </nav>
  );
}
