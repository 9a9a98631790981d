import type { IncidentWithLog } from '#console/api/actions.ts';
import { Card, Row } from '#console/parts/card.tsx';
import { CHANNEL_TITLES, ChannelIcon } from '#console/parts/channel.tsx';
import { Moment } from '#console/parts/moment.tsx';
import { Status, type Tone } from '#console/parts/status.tsx';
import { useNames } from '#console/rooms/incidents/people.ts';

type Notification = IncidentWithLog['notifications'][number];

const TONES: Record<Notification['status'], Tone> = {
  queued: 'blue',
  sent: 'blue',
  delivered: 'green',
  failed: 'red',
  skipped: 'gray',
  cancelled: 'gray',
};

/** Every message to everybody, and what has become of it. */
export function NotificationLog({ notifications }: { readonly notifications: readonly Notification[] }) {
  const nameOf = useNames();
  if (notifications.length === 0) {
    return (
      <Card title="Notification log" about="Nobody was notified yet.">
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
              {CHANNEL_TITLES[entry.channel]}
              {entry.to !== null && ` to ${entry.to}`}, {entry.step === null ? 'news' : `step ${entry.step + 1}`},{' '}
              <Moment at={entry.updatedAt} as="clock" />
              {entry.reason !== null && <div>{reasonText(entry.reason)}</div>}
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

const REASONS: Readonly<Record<string, string>> = {
  channel_not_configured: 'this channel is not set up on the server',
  channel_off: 'the person has this channel off',
  no_address: 'no address is known',
  no_subscription: 'no device is subscribed',
  left_organization: 'the person has left',
  unconfirmed: 'the provider has not confirmed it',
  gave_up: 'it could not be sent within five minutes',
  acknowledged: 'told that it was acknowledged',
  resolved: 'told that it was resolved',
};

export function reasonText(reason: string): string {
  return REASONS[reason] ?? reason.replaceAll('_', ' ');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
