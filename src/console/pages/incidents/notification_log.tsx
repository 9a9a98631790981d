import type { IncidentWithLog } from '#console/api/actions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ChannelIcon } from '#console/components/channel.tsx';
import { Timestamp } from '#console/components/timestamp.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { useMemberNames } from '#console/pages/incidents/use_member_names.ts';
import { reasonOf } from '#core/incidents/reasons.ts';
import { CHANNEL_DECLARATIONS } from '#core/oncall/channel.ts';

type Notification = IncidentWithLog['notifications'][number];

const TONES: Record<Notification['status'], Tone> = {
  queued: 'blue',
  sent: 'blue',
  delivered: 'green',
  failed: 'red',
  skipped: 'gray',
  cancelled: 'gray',
};

/** Every message about the incident, with its status. */
export function NotificationLog({ notifications }: { readonly notifications: readonly Notification[] }) {
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
      rows={notifications.map((entry) => (
        <Row
          key={entry.notificationId}
          icon={<ChannelIcon channel={entry.channel} />}
          title={capital(nameOf(entry.userId))}
          sub={
            <>
              {CHANNEL_DECLARATIONS[entry.channel].title}
              {entry.to !== null && ` to ${entry.to}`}, {subjectOf(entry)},{' '}
              <Timestamp at={entry.updatedAt} format="clock" />
              {entry.reason !== null && <div>{capital(reasonOf(entry.reason))}</div>}
              {entry.attempts > 1 && <div>{entry.attempts} attempts</div>}
            </>
          }
        >
          <Status tone={TONES[entry.status]}>{entry.status}</Status>
        </Row>
      ))}
    />
  );
}

/** What the message is about: a step of the policy, or an update of the incident. */
function subjectOf({ step, news }: Notification): string {
  if (step !== null) return `step ${step + 1}`;
  return news === null ? 'update' : `update: ${news}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
