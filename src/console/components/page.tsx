import { Title } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { createLink } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, useEffect } from 'react';

import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import classes from '#console/components/page.module.css';

interface PageProps {
  readonly title: string;
  /** Content above the title, such as a link back. */
  readonly above?: ReactNode;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /** Whether the column is narrow, for reading and forms. */
  readonly isNarrow?: boolean;
  readonly children: ReactNode;
}

/** Frame of a page: title, actions and content. */
export function Page({ title, above, lead, actions, isNarrow = false, children }: PageProps) {
  useDocumentTitle(title);
  return (
    <div className={`${classes.page} ${isNarrow ? classes.narrow : ''}`}>
      {above}
      <div className={classes.head}>
        <div className={classes.titles}>
          <Title order={1} tabIndex={-1} className={classes.title}>
            <bdi className={classes.name} title={title}>
              {withoutBidiControls(title)}
            </bdi>
          </Title>
          {lead !== undefined && <div className={classes.lead}>{lead}</div>}
        </div>
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </div>
      {children}
    </div>
  );
}

export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = `${withoutBidiControls(title)} · Tocsin`;
  }, [title]);
}

/** Link to the parent page, above the title. Its text may be a name that people chose. */
export const Back = createLink(({ children, ...props }: ComponentProps<'a'>) => (
  <a {...props} className={classes.back}>
    <IconArrowLeft size={16} aria-hidden /> {typeof children === 'string' ? <Name>{children}</Name> : children}
  </a>
));
