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
import { Card } from '#console/parts/card.tsx';
import { Moment } from '#console/parts/moment.tsx';
import { Sentence } from '#console/parts/name.tsx';
import type { Tone } from '#console/parts/status.tsx';
import { dateText } from '#console/parts/time_text.ts';
import classes from '#console/rooms/incidents/story.module.css';

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

/** What happened, oldest first, in whole sentences. */
export function Story({ timeline }: { readonly timeline: IncidentWithLog['timeline'] }) {
  const isOneDay = new Set(timeline.map(({ at }) => dateText(at))).size <= 1;
  return (
    <Card title="Timeline">
      <ol className={classes.story}>
        {timeline.map(({ at, event, text }, index) => {
          const [Icon, tone] = MARKS[event] ?? [IconBell, 'gray'];
          return (
            // The timeline only grows at its end.
            // eslint-disable-next-line react/no-array-index-key
            <li key={index} className={classes.event}>
              <span className={`${classes.mark} ${tone === 'gray' ? '' : classes[tone]}`} aria-hidden>
                <Icon size={16} stroke={1.75} />
              </span>
              <span className={classes.text}>
                <Sentence>{text}</Sentence>
              </span>
              <span className={classes.at}>
                <Moment at={at} as={isOneDay ? 'clock' : 'date_time'} />
              </span>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
