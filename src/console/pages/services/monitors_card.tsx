import { Alert, Button, Group, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import type { ResultOf, ServiceWithKeys } from '#console/api/actions.ts';
import { monitorsQuery } from '#console/api/services.ts';
import { Card, Row } from '#console/components/card.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { coarseDurationText, fullText } from '#console/components/text/time_text.ts';
import classes from '#console/pages/services/monitors_card.module.css';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import type { RunStatus } from '#modules/monitors/decide/check_in.ts';

const EditMonitor = lazyPart(() => import('#console/pages/services/edit_monitor.tsx').then((m) => m.EditMonitor));

type Monitor = ResultOf<'list_monitors'>['monitors'][number];
type Run = Monitor['runs'][number];

const REFRESH_MS = 15_000;

const RUN_NAMES: Readonly<Record<RunStatus, string>> = {
  in_progress: 'running',
  ok: 'ok',
  error: 'failed',
  missed: 'did not begin',
  timeout: 'took too long',
};

/** Texts on the last run, which stand before the time at which it began, or was to begin. */
const LAST_RUN: Readonly<Record<RunStatus, string>> = {
  in_progress: 'A run began',
  ok: 'Last run ok,',
  error: 'Last run failed,',
  missed: 'Last run did not begin,',
  timeout: 'Last run took too long,',
};

/** Card of the scheduled jobs that check in; nothing if there are none. */
export function MonitorsCard({ service: { serviceId, capabilities } }: { readonly service: ServiceWithKeys }) {
  const { org, may } = useOrganization();
  const { data, error, refetch } = useQuery({
    ...monitorsQuery(org.orgId, serviceId),
    enabled: capabilities.includes('exceptions'),
    refetchInterval: REFRESH_MS,
  });
  if (error !== null && data === undefined) {
    return (
      <Card title="Cron monitors">
        <ErrorAlert error={error} onRetry={() => void refetch()} />
      </Card>
    );
  }
  if (data === undefined || data.monitors.length === 0) return null;
  const { monitors, monitorsMax, opensIncidents } = data;
  return (
    <Card
      title="Cron monitors"
      about={`Scheduled jobs that check in: ${monitors.length} of at most ${monitorsMax}.`}
      rows={monitors.map((monitor) => (
        <MonitorRow key={monitor.monitorId} monitor={monitor} />
      ))}
    >
      {!opensIncidents && may('oncall:edit') && (
        <Alert color="yellow">
          Nobody is paged when one of them fails: no exception rule of this service opens incidents for cron monitors.{' '}
          <Link to="/rules/new" search={{ service: serviceId, kind: 'exception' }}>
            Create a rule
          </Link>
        </Alert>
      )}
    </Card>
  );
}

function MonitorRow({ monitor }: { readonly monitor: Monitor }) {
  const { may } = useOrganization();
  const [isEditing, setIsEditing] = useState(false);
  const [isDeleting, setIsDeleting] = useState(false);
  const { monitorId, slug, environment, schedule, scheduleFault, editedAt, nextDueAt, isMuted, keyOnly, runs } =
    monitor;
  const muting = useServiceChange('mute_monitor');
  const restricting = useServiceChange('restrict_monitor');
  const deleting = useServiceChange('delete_monitor', () => setIsDeleting(false));
  const [newest] = runs;
  return (
    <Row
      title={
        <>
          <Name>{slug}</Name> <State monitor={monitor} />
        </>
      }
      sub={
        <>
          <div>
            {environment}, {schedule ?? 'no schedule: missed runs are not noticed'}
            {editedAt !== null && ', edited here'}
            {keyOnly && ', by the ingestion key only'}
          </div>
          {scheduleFault !== null && <div>No run is expected: the schedule cannot be read. {scheduleFault}</div>}
          <div>
            {newest !== undefined && (
              <>
                {LAST_RUN[newest.status]} <Timestamp at={newest.startedAt} />
              </>
            )}
            {nextDueAt !== null && (
              <>
                {newest === undefined ? 'Next' : '; next'} expected <Timestamp at={nextDueAt} format="date_time" />
              </>
            )}
          </div>
          {muting.error !== null && <ErrorAlert error={muting.error} />}
          {restricting.error !== null && <ErrorAlert error={restricting.error} />}
          <Runs runs={runs} />
        </>
      }
    >
      {may('exceptions:edit') && (
        <Group gap="xs">
          <Button
            variant="default"
            loading={muting.isPending}
            onClick={() => muting.mutate({ monitorId, isMuted: !isMuted })}
            aria-label={`${isMuted ? 'Unmute' : 'Mute'} ${slug}`}
          >
            {isMuted ? 'Unmute' : 'Mute'}
          </Button>
          <Button
            variant="default"
            loading={restricting.isPending}
            onClick={() => restricting.mutate({ monitorId, keyOnly: !keyOnly })}
            aria-label={`${keyOnly ? 'Take any check-in of' : 'Take check-ins by key only of'} ${slug}`}
          >
            {keyOnly ? 'Any check-in' : 'Key only'}
          </Button>
          <Button variant="default" onClick={() => setIsEditing(true)} aria-label={`Edit ${slug}`}>
            Edit
          </Button>
          <Button variant="default" onClick={() => setIsDeleting(true)} aria-label={`Delete ${slug}`}>
            Delete
          </Button>
        </Group>
      )}
      {isEditing && <EditMonitor monitor={monitor} onClose={() => setIsEditing(false)} />}
      {isDeleting && (
        <Confirm
          title="Delete the cron monitor?"
          button="Delete"
          saving={deleting}
          onConfirm={() => deleting.mutate({ monitorId })}
          onClose={() => setIsDeleting(false)}
        >
          The runs of <Name>{slug}</Name> are deleted and its incidents are resolved. If its job checks in again, the
          monitor comes back.
        </Confirm>
      )}
    </Row>
  );
}

function State({ monitor: { isFailing, isMuted, runs } }: { readonly monitor: Monitor }) {
  if (isMuted) return <Status tone="gray">{isFailing ? 'Failing, muted' : 'Muted'}</Status>;
  if (isFailing) return <Status tone="red">Failing</Status>;
  const hasEnded = runs.some(({ status }) => status !== 'in_progress');
  return hasEnded ? <Status tone="green">OK</Status> : <Status tone="blue">First run</Status>;
}

/** Marks of the last runs, oldest first, as people read time. */
function Runs({ runs }: { readonly runs: readonly Run[] }) {
  return (
    <div className={classes.runs} role="list" aria-label="Last runs">
      {runs.toReversed().map((run) => (
        <span key={run.runId} role="listitem" className={`${classes.run} ${classes[run.status]}`} title={runText(run)}>
          <VisuallyHidden>{runText(run)}</VisuallyHidden>
        </span>
      ))}
    </div>
  );
}

function runText({ status, startedAt, endedAt }: Run): string {
  const took =
    endedAt === null || status === 'missed'
      ? ''
      : ` after ${coarseDurationText(Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)))}`;
  return `${fullText(startedAt)}: ${RUN_NAMES[status]}${took}`;
}
