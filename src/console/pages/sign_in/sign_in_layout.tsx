import { Title } from '@mantine/core';
import type { ReactNode } from 'react';

import { addressOf } from '#console/api/http.ts';
import { useDocumentTitle } from '#console/components/page.tsx';
import classes from '#console/pages/sign_in/sign_in_layout.module.css';

interface SignInLayoutProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
  readonly foot?: ReactNode;
}

/** A page for somebody who is not inside yet. */
export function SignInLayout({ title, lead, children, foot }: SignInLayoutProps) {
  useDocumentTitle(title);
  return (
    <main className={classes.doorway}>
      <div className={classes.box}>
        <img src={addressOf('favicon.svg')} alt="Tocsin" className={classes.mark} />
        <Title order={1} className={classes.title} tabIndex={-1}>
          {title}
        </Title>
        <p className={classes.lead}>{lead}</p>
        {children}
        {foot !== undefined && <div className={classes.foot}>{foot}</div>}
      </div>
    </main>
  );
}
