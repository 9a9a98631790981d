import { Title } from '@mantine/core';
import type { ReactNode } from 'react';

import { Logo } from '#console/components/logo.tsx';
import { useDocumentTitle } from '#console/components/page.tsx';
import classes from '#console/pages/sign_in/sign_in_layout.module.css';

interface SignInLayoutProps {
  readonly title: string;
  /** Title with names in it, if it has any. */
  readonly heading?: ReactNode;
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
  readonly foot?: ReactNode;
}

/** Frame of pages for people who are not signed in yet. */
export function SignInLayout({ title, heading = title, lead, children, foot }: SignInLayoutProps) {
  useDocumentTitle(title);
  return (
    <main className={`${classes.page} row`}>
      <div className={classes.box}>
        <Logo alt="Tocsin" className={classes.mark} />
        <Title order={1} className={classes.title} tabIndex={-1}>
          {heading}
        </Title>
        <p className={classes.lead}>{lead}</p>
        {children}
        {foot !== undefined && <div className={`${classes.foot} dimmed small`}>{foot}</div>}
      </div>
    </main>
  );
}
