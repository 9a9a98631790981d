import { IconArrowLeft } from '@tabler/icons-react';
import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

import classes from '#console/components/back.module.css';

/** Link to the parent page, above the title. */
export const Back = createLink(({ children, ...props }: ComponentProps<'a'>) => (
  <a {...props} className={classes.back}>
    <IconArrowLeft size={16} aria-hidden /> {children}
  </a>
));
