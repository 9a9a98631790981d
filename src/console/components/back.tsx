import { IconArrowLeft } from '@tabler/icons-react';
import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

import classes from '#console/components/back.module.css';
import { Name } from '#console/components/text/name.tsx';

/** Link to the parent page, above the title. Its text may be a name that people chose. */
export const Back = createLink(({ children, ...props }: ComponentProps<'a'>) => (
  <a {...props} className={classes.back}>
    <IconArrowLeft size={16} aria-hidden /> {typeof children === 'string' ? <Name>{children}</Name> : children}
  </a>
));
