import type { IncidentWithLog } from '#console/api/actions.ts';
import { Card } from '#console/components/card.tsx';
import { ChannelIcon } from '#console/components/text/channel.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/incidents/notification_log.module.css';
import { useMemberNames } from '#console/pages/incidents/member_names.tsx';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';

type Notification = IncidentWithLog['notifications'][number];

const TONES: Record<Notification['status'], Tone> = {
  queued: 'blue',
  sent: 'blue',
  delivered: 'green',
  failed: 'red',
  skipped: 'gray',
  cancelled: 'gray',
};

interface NotificationLogProps {
  readonly incident: Pick<IncidentWithLog, 'notifications' | 'notificationTotal'>;
}

/** Card of every message about the incident with its status, person by person. */
export function NotificationLog({ incident: { notifications, notificationTotal } }: NotificationLogProps) {
  const notShown = notificationTotal - notifications.length;
  const nameOf = useMemberNames();
  if (notifications.length === 0) {
    return (
      <Card title="Notification log" about="Nobody has been notified yet.">
        {undefined}
      </Card>
    );
  }
  return (
    <Card
      title="Notification log"
      about={
        notShown > 0 ? `The newest messages. ${notShown.toLocaleString('en')} older ones are not shown.` : undefined
      }
      rows={[...Map.groupBy(notifications, ({ userId }) => userId)].map(([userId, ofPerson]) => (
        <li key={userId} className={classes.person}>
          <h3 className={classes.name}>{capital(nameOf(userId))}</h3>
          <ul className={classes.messages}>
            {ofPerson.map((entry) => (
              <Message key={entry.notificationId} entry={entry} />
            ))}
          </ul>
        </li>
      ))}
    />
  );
}

function Message({ entry }: { readonly entry: Notification }) {
  const { channel, to, status, reason, attempts, updatedAt } = entry;
  return (
    <li className={classes.message}>
      <ChannelIcon channel={channel} size={16} />
      <div className={classes.about}>
        {CHANNEL_DECLARATIONS[channel].title}
        {to !== null && ` to ${to}`}, {subjectOf(entry)}
        {reason !== null && <div className={classes.reason}>{capital(reasonOf(reason))}</div>}
        {attempts > 1 && <div className={classes.reason}>{attempts} attempts</div>}
      </div>
      <Timestamp at={updatedAt} format="clock" />
      <Status tone={TONES[status]}>{status}</Status>
    </li>
  );
}

/** Returns the subject of the message: a step of the policy, or an update of the incident. */
function subjectOf({ step, news }: Notification): string {
  if (step !== null) return `step\u00A0${step + 1}`;
  return news === null ? 'update' : `update: ${news}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
