import {
  IconAlertTriangle,
  IconArrowBackUp,
  IconBell,
  IconCheck,
  IconCircleCheck,
  IconEye,
  IconPlayerSkipForward,
  IconSend,
  IconUrgent,
  IconUserX,
} from '@tabler/icons-react';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { Card } from '#console/components/card.tsx';
import { Timestamp } from '#console/components/timestamp.tsx';
import { Sentence } from '#console/components/name.tsx';
import type { Tone } from '#console/components/status.tsx';
import { dateText } from '#console/components/time_text.ts';
import classes from '#console/pages/incidents/timeline.module.css';

const MARKS: Readonly<Record<string, readonly [typeof IconBell, Tone]>> = {
  triggered: [IconUrgent, 'red'],
  step_fired: [IconBell, 'blue'],
  step_skipped: [IconPlayerSkipForward, 'red'],
  page_sent: [IconSend, 'gray'],
  page_delivered: [IconCheck, 'gray'],
  page_failed: [IconAlertTriangle, 'red'],
  person_unreachable: [IconUserX, 'red'],
  acknowledged: [IconEye, 'amber'],
  resolved: [IconCircleCheck, 'green'],
  reopened: [IconArrowBackUp, 'red'],
  unacknowledged: [IconArrowBackUp, 'red'],
};

/** What happened, oldest first. */
export function Timeline({ timeline }: { readonly timeline: IncidentWithLog['timeline'] }) {
  const isOneDay = new Set(timeline.map(({ at }) => dateText(at))).size <= 1;
  return (
    <Card title="Timeline">
      <ol className={classes.timeline}>
        {timeline.map(({ at, event, text }, index) => {
          const [Icon, tone] = MARKS[event] ?? [IconBell, 'gray'];
          return (
            // New entries are only added at the end.
            // eslint-disable-next-line react/no-array-index-key
            <li key={index} className={classes.event}>
              <span className={`${classes.mark} ${tone === 'gray' ? '' : classes[tone]}`} aria-hidden>
                <Icon size={16} stroke={1.75} />
              </span>
              <span className={classes.text}>
                <Sentence>{text}</Sentence>
              </span>
              <span className={classes.at}>
                <Timestamp at={at} format={isOneDay ? 'clock' : 'date_time'} />
              </span>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
