import { Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

import classes from '#console/components/card.module.css';

interface CardProps {
  readonly anchor?: string;
  readonly title?: ReactNode;
  readonly about?: ReactNode;
  readonly action?: ReactNode;
  /** Padded content. */
  readonly children?: ReactNode;
  /** Rows that span the full width of the card. */
  readonly rows?: ReactNode;
}

/** Section of a page. */
export function Card({ anchor, title, about, action, children, rows }: CardProps) {
  const id = useId();
  return (
    <section id={anchor} className={`surface ${classes.card}`} aria-labelledby={title === undefined ? undefined : id}>
      {title !== undefined && (
        <div className={`${classes.head} row wraps apart`}>
          <div className={classes.grow}>
            <Title order={2} id={id}>
              {title}
            </Title>
            {about !== undefined && <p className={`${classes.about} dimmed small`}>{about}</p>}
          </div>
          {action}
        </div>
      )}
      {rows !== undefined && <ul className={`${classes.rows} plain-list`}>{rows}</ul>}
      {children !== undefined && <div className={classes.body}>{children}</div>}
    </section>
  );
}

interface RowProps {
  readonly icon?: ReactNode;
  readonly title: ReactNode;
  readonly sub?: ReactNode;
  readonly children?: ReactNode;
}

export function Row({ icon, title, sub, children }: RowProps) {
  return (
    <li className={`${classes.row} row wraps`}>
      {icon}
      <div className={classes.grow}>
        <div>{title}</div>
        {sub !== undefined && <div className="dimmed small">{sub}</div>}
      </div>
      {children}
    </li>
  );
}
