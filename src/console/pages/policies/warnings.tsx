import type { ReactNode } from 'react';

import { Sentence } from '#console/components/text/name.tsx';
import { dateTimeText } from '#console/components/text/time_text.ts';
import { IconAlertTriangle } from '#console/icons.ts';
import classes from '#console/pages/policies/warnings.module.css';

/** List of what may keep pages from people, one line each. */
export function Warnings({ messages, action }: { readonly messages: readonly string[]; readonly action?: ReactNode }) {
  if (messages.length === 0) return null;
  return (
    <ul className={classes.warnings} aria-label="Warnings">
      {messages.map((message) => (
        <li key={message} className={`${classes.warning} spaced small`}>
          <IconAlertTriangle size={16} stroke={1.75} aria-hidden />
          <span>
            <Sentence>{inLocalTime(message)}</Sentence> {action}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Converts times in a message, which the server writes in UTC, to the viewer's zone. */
export function inLocalTime(message: string): string {
  return message.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (at) => dateTimeText(at));
}
