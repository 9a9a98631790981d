import type { IncidentWithLog } from '#console/api/actions.ts';
import { Card } from '#console/components/card.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { ChannelIcon } from '#console/components/text/channel.tsx';
import { Sentence } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { dateText } from '#console/components/text/time_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import {
  IconArrowBackUp,
  IconArrowsExchange,
  IconBell,
  IconBellRinging,
  IconCircleCheck,
  IconEye,
  IconFlag,
  IconMessageCheck,
  IconMessageQuestion,
  IconNote,
  IconPlayerSkipForward,
  IconRobot,
  IconUrgent,
  IconUserX,
} from '#console/icons.ts';
import { useMemberNames } from '#console/pages/incidents/member_names.tsx';
import { NewNote, type Note, NoteEntry } from '#console/pages/incidents/notes.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import classes from '#console/pages/incidents/timeline.module.css';

const MARKS: Readonly<Record<string, readonly [typeof IconBell, Tone]>> = {
  triggered: [IconUrgent, 'red'],
  step_fired: [IconBell, 'blue'],
  step_skipped: [IconPlayerSkipForward, 'red'],
  person_unreachable: [IconUserX, 'red'],
  acknowledged: [IconEye, 'amber'],
  resolved: [IconCircleCheck, 'green'],
  reopened: [IconArrowBackUp, 'red'],
  unacknowledged: [IconArrowBackUp, 'red'],
  declared: [IconUrgent, 'red'],
  escalated: [IconBellRinging, 'red'],
  reassigned: [IconArrowsExchange, 'red'],
  severity_changed: [IconArrowsExchange, 'amber'],
  commander_changed: [IconFlag, 'blue'],
  note: [IconNote, 'gray'],
  lease_taken: [IconRobot, 'blue'],
  lease_released: [IconRobot, 'gray'],
  lease_lost: [IconRobot, 'amber'],
  agent_proposed: [IconRobot, 'amber'],
  agent_asked: [IconMessageQuestion, 'amber'],
  proposal_answered: [IconMessageCheck, 'green'],
};

/** Events that the notification log shows with the person, the channel and the time. */
const IN_LOG = new Set(['page_sent', 'page_delivered', 'page_failed']);

interface TimelineProps {
  readonly incident: IncidentWithLog;
  /** Whether a note is being written above the page. */
  readonly isNoting: boolean;
  readonly onNoted: () => void;
}

/** Timeline of events and notes, oldest first, without what the notification log says. */
export function Timeline({ incident, isNoting, onNoted }: TimelineProps) {
  const { may } = useOrganization();
  const { incidentId, timelineTotal } = incident;
  const notShown = timelineTotal - incident.timeline.length;
  const entries = entriesOf(incident);
  const isOneDay = new Set(entries.map(({ at }) => dateText(at))).size <= 1;
  return (
    <Card
      title="Timeline"
      about={
        notShown > 0 ? `The newest entries. ${notShown.toLocaleString('en')} older ones are not shown.` : undefined
      }
    >
      <ol className="plain-list">
        {entries.map(({ key, at, event, text, note }) => {
          const [Icon, tone] = MARKS[event] ?? [IconBell, 'gray'];
          return (
            <li key={key} className={classes.event}>
              <span className={`${classes.mark} ${tone === 'gray' ? '' : classes[tone]}`} aria-hidden>
                <Icon size={16} stroke={1.75} />
              </span>
              <div className={classes.text}>
                {note === null ? <Sentence>{text}</Sentence> : <NoteEntry incidentId={incidentId} note={note} />}
              </div>
              <span className={`${classes.at} dimmed nowrap`}>
                <Timestamp at={at} format={isOneDay ? 'clock' : 'date_time'} />
              </span>
            </li>
          );
        })}
      </ol>
      {may('oncall:edit') && <NewNote incidentId={incidentId} isInDialog={isNoting} onClose={onNoted} />}
    </Card>
  );
}

interface Entry {
  readonly key: string;
  readonly at: string;
  readonly event: string;
  readonly text: string;
  readonly note: Note | null;
}

/** Returns the entries in order. Events of one instant stay in the order of the server; a note follows them. */
function entriesOf({ timeline, notes }: IncidentWithLog): Entry[] {
  const shown = timeline.filter(({ event }) => !IN_LOG.has(event));
  const events = shown.map(({ at, event, text }, index) => ({ key: `event ${index}`, at, event, text, note: null }));
  const written = notes.map((note) => ({ key: note.noteId, at: note.createdAt, event: 'note', text: note.text, note }));
  return [...events, ...written].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

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
          <h3 className={`${classes.name} small strong`}>
            <Person userId={userId}>{capital(nameOf(userId))}</Person>
          </h3>
          <ul className="plain-list">
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
  const { channel, to, status, reason, attempts, isSimulated, updatedAt } = entry;
  return (
    <li className={`${classes.message} dimmed small numbers`}>
      <ChannelIcon channel={channel} size={16} />
      <div>
        {CHANNEL_DECLARATIONS[channel].title}
        {to !== null && ` to ${to}`}, {subjectOf(entry)}
        {reason !== null && <div className={classes.reason}>{capital(reasonOf(reason))}</div>}
        {attempts > 1 && <div className={classes.reason}>{attempts} attempts</div>}
      </div>
      <Timestamp at={updatedAt} format="clock" />
      {isSimulated ? <Status tone="amber">simulated</Status> : <Status tone={TONES[status]}>{status}</Status>}
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
