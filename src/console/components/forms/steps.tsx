import type { ComponentProps, ReactNode } from 'react';

import classes from '#console/components/forms/steps.module.css';

interface StepsProps extends ComponentProps<'ol'> {
  /** Whether the line that joins the steps continues to what is below them. */
  readonly goesOn?: boolean;
}

/** Steps one below the other, joined by a line. */
export function Steps({ goesOn = false, className = '', ...props }: StepsProps) {
  return <ol className={`${classes.steps} ${className}`} data-goes-on={goesOn || undefined} {...props} />;
}

export function Step(props: ComponentProps<'li'>) {
  return <li className={classes.step} {...props} />;
}

interface BulletProps {
  readonly tone: 'blue' | 'amber' | 'red' | 'plain' | 'dashed' | 'due';
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** Bullet of a step, hidden from screen readers: the text beside it names the step. */
export function Bullet({ tone, className = '', children }: BulletProps) {
  return (
    <span className={`${classes.bullet} ${className}`} data-tone={tone} aria-hidden>
      {children}
    </span>
  );
}
