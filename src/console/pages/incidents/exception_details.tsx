import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { Incident, ResultOf } from '#console/api/actions.ts';
import { actionQuery } from '#console/api/queries.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { type Frame, functionOf, placeOf } from '#console/components/text/frame_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/incidents/incident_cause.module.css';
import { useOrganization } from '#console/shell/organization.tsx';

type Event = ResultOf<'get_exception_group'>['recentEvents'][number];

const FRAMES_SHOWN = 5;

/** Details of the exception behind an incident: its message and the frames of the program's own code. */
export function ExceptionDetails({ incident }: { readonly incident: Incident }) {
  const groupId = incident.exceptionGroupId ?? '';
  const { data, error } = useQuery({
    ...actionQuery(useOrganization().org.orgId, 'exceptions', 'get_exception_group', { groupId }),
    enabled: groupId !== '',
  });
  if (groupId === '') return <Card title="The exception">It is no longer stored.</Card>;
  if (error !== null) return <ErrorAlert error={error} title="The exception could not be loaded" />;
  if (data === undefined) return <Skeleton height={200} radius="lg" mb="lg" />;
  const event = data.recentEvents[0];
  const raised = event?.exceptions.at(-1);
  return (
    <Card
      title={raised?.type ?? data.type ?? 'The exception'}
      about={data.culprit ?? undefined}
      action={
        <>
          {incident.ruleId !== null && (
            <>
              <Link to="/rules/$ruleId" params={{ ruleId: incident.ruleId }}>
                The rule
              </Link>{' '}
            </>
          )}
          <Link to="/exceptions/$groupId" params={{ groupId }}>
            All of it
          </Link>
        </>
      }
    >
      <pre className={classes.message}>{raised?.value ?? event?.message ?? data.title}</pre>
      <p className={classes.note}>
        {count(data.eventCount, 'event', 'events')}
        {data.userCount > 0 && `, ${count(data.userCount, 'user', 'users')}`}, first seen{' '}
        <Timestamp at={data.firstSeenAt} />, last <Timestamp at={data.lastSeenAt} />
        {event?.environment != null && `, in ${event.environment}`}
        {event?.release != null && `, release ${event.release}`}
      </p>
      {event !== undefined && <Frames frames={framesOf(event)} />}
    </Card>
  );
}

/** Returns the frames, the innermost first. */
function framesOf(event: Event): Frame[] {
  const frames = event.exceptions.at(-1)?.frames ?? event.frames;
  const inAppFrames = frames.filter(({ inApp }) => inApp);
  return (inAppFrames.length > 0 ? inAppFrames : frames).slice(-FRAMES_SHOWN).reverse();
}

function Frames({ frames }: { readonly frames: readonly Frame[] }) {
  if (frames.length === 0) return null;
  return (
    <ol className={classes.frames} aria-label="Stack frames of your own code, innermost first">
      {frames.map((frame, index) => (
        // A stack can contain the same frame many times.
        // eslint-disable-next-line react/no-array-index-key
        <li key={index} className={classes.frame}>
          {functionOf(frame)}{' '}
          <span className={classes.place}>
            {frame.sourceUrl === null ? placeOf(frame) : <a href={frame.sourceUrl}>{placeOf(frame)}</a>}
          </span>
          {index === 0 && frame.code !== null && <code className={classes.code}>{frame.code.line}</code>}
        </li>
      ))}
    </ol>
  );
}

function count(number: number, singular: string, many: string): string {
  return `${number} ${number === 1 ? singular : many}`;
}
