import { Title } from '@mantine/core';
import { createLink, Link, useLocation, useNavigate } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, useEffect, useEffectEvent, useRef } from 'react';

import itemPageClasses from '#console/components/item_page.module.css';
import pageTabsClasses from '#console/components/page_tabs.module.css';
import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import classes from '#console/components/page.module.css';
import { type Icon, IconArrowLeft } from '#console/icons.ts';
import type { FixedPath } from '#console/shell/navigation.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import type { Permission } from '#kernel/permissions.ts';

interface PageProps {
  readonly title: string;
  /** Content above the title, such as a link back. */
  readonly above?: ReactNode;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /** Permission of what the page is mainly for: whoever lacks it is told what their role may do instead. */
  readonly permission?: Permission;
  /** Whether the column is narrow, for reading and forms. */
  readonly isNarrow?: boolean;
  readonly children: ReactNode;
}

/** Frame of a page: title, actions and content. */
export function Page({ title, above, lead, actions, permission, isNarrow = false, children }: PageProps) {
  useDocumentTitle(title);
  return (
    <div className={`${classes.page} ${isNarrow ? classes.narrow : ''}`}>
      {above}
      <div className={`${classes.head} wraps apart`}>
        <div className={classes.titles}>
          <Title order={1} tabIndex={-1} className={classes.title}>
            <bdi className={classes.name} title={title}>
              {withoutBidiControls(title)}
            </bdi>
          </Title>
          {lead !== undefined && <div className={`${classes.lead} dimmed small`}>{lead}</div>}
        </div>
        {actions !== undefined && <div className={`${classes.actions} wraps spaced`}>{actions}</div>}
      </div>
      {permission !== undefined && <RoleLine permission={permission} />}
      {children}
    </div>
  );
}

const RoleNote = lazyPart(() => import('#console/components/text/role_note.tsx').then((m) => m.RoleNote));

/** Line for somebody whose role hides what others do on the page. */
function RoleLine({ permission }: { readonly permission: Permission }) {
  const { may } = useOrganization();
  if (may(permission)) return null;
  return (
    <p className="dimmed small">
      <RoleNote permission={permission} whileLoading={'\u00A0'} />
    </p>
  );
}

export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = `${withoutBidiControls(title)} · Tocsin`;
  }, [title]);
}

/** Opens a dialog of the page when its address ends in `#` and this, as those of the command palette do. */
export function useOpenedByAddress(fragment: string, open: () => void): void {
  const navigate = useNavigate();
  const isMeant = useLocation({ select: ({ hash }) => hash === fragment });
  const onMeant = useEffectEvent(open);
  useEffect(() => {
    if (isMeant) void navigate({ to: '.', search: true, replace: true }).then(onMeant);
  }, [isMeant, navigate]);
}

/** Link to the parent page, above the title. Its text may be a name that people chose. */
export const Back = createLink(({ children, ...props }: ComponentProps<'a'>) => (
  <a {...props} className={`${classes.back} dimmed small`}>
    <IconArrowLeft size={16} aria-hidden /> {typeof children === 'string' ? <Name>{children}</Name> : children}
  </a>
));

interface ItemPageProps {
  readonly title: string;
  readonly back: ReactNode;
  /** Facts in a line below the title. The last one has `data-rest` if its length is not known at first. */
  readonly facts: ReactNode;
  readonly actions: ReactNode;
  readonly permission?: Permission;
  /**
   * Two columns, below each other if there is not enough room. A third child stands below the first, or last, so that
   * content that arrives late or far down moves nothing there.
   */
  readonly children: ReactNode;
}

/** Page of one item of a list. On a phone its actions are at the bottom, within reach of a thumb. */
export function ItemPage({ title, back, facts, actions, permission, children }: ItemPageProps) {
  return (
    <div className={itemPageClasses.item}>
      <Page
        title={title}
        above={back}
        lead={<div className={`${itemPageClasses.facts} row wraps dimmed small`}>{facts}</div>}
        actions={actions}
        {...(permission !== undefined && { permission })}
      >
        <div className={itemPageClasses.columns}>{children}</div>
      </Page>
    </div>
  );
}

interface ItemActionsProps {
  /** Whether there are four places, for a button or a word each, which are larger on a phone. */
  readonly isLarge?: boolean;
  readonly children: ReactNode;
}

export function ItemActions({ isLarge = false, children }: ItemActionsProps) {
  return (
    <div className={itemPageClasses.actions} data-large={isLarge || undefined} data-bottom-bar="">
      {children}
    </div>
  );
}

interface PageTabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** Address of the tab with which those of the others begin. */
  readonly exact?: FixedPath;
  /** Tabs of the pages that stand under the current one. */
  readonly below?: readonly Tab[];
}

interface Tab {
  readonly to: FixedPath;
  readonly label: string;
  readonly icon?: Icon;
  /** Whether it is the current one, though its address is of another page. */
  readonly isCurrent?: boolean;
}

/** Tabs of related pages, above each of them. */
export function PageTabs({ label, tabs, exact, below }: PageTabsProps) {
  const nav = useRef<HTMLDivElement>(null);
  const { pathname } = useLocation();
  // On a phone not all tabs fit.
  useEffect(() => {
    for (const tab of nav.current?.querySelectorAll('[data-status=active]') ?? []) {
      tab.scrollIntoView({ block: 'nearest', inline: 'center' });
    }
  }, [pathname]);
  return (
    <div className={pageTabsClasses.strip} ref={nav}>
      {[tabs, ...(below === undefined ? [] : [below])].map((row, depth) => (
        <nav key={depth} className={pageTabsClasses.nav} aria-label={depth === 0 ? label : `Pages of ${label}`}>
          {row.map(({ to, label: name, icon: Icon, isCurrent = false }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === exact, includeSearch: false }}
              className={`${pageTabsClasses.tab} row dimmed small nowrap`}
              {...(isCurrent && { 'data-status': 'active' })}
            >
              {Icon !== undefined && <Icon size={17} stroke={1.75} aria-hidden />}
              {name}
            </Link>
          ))}
        </nav>
      ))}
    </div>
  );
}
