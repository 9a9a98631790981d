import { Button, Checkbox, Group, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { CopyField, CopyId } from '#console/components/forms/copy_field.tsx';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { ManagedMark } from '#console/components/managed_mark.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Status } from '#console/components/status.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { PersonColors, PersonDot } from '#console/components/text/person_dot.tsx';
import { useNow } from '#console/components/text/timestamp.tsx';
import { useNamesOf } from '#console/components/text/use_names_of.ts';
import { IconCopy, IconPencil, IconUserCheck } from '#console/icons.ts';
import { Agenda } from '#console/pages/oncall/agenda.tsx';
import { Gaps, PagesNobody } from '#console/pages/oncall/gaps.tsx';
import { layersOf, turnLengthText } from '#console/pages/oncall/layers/layers_draft.ts';
import { rowsOf, rowText } from '#console/pages/oncall/layers/week_hours.ts';
import { ScheduleFrame } from '#console/pages/oncall/schedule_frame.tsx';
import { isOtherTime, momentText } from '#console/pages/oncall/span_text.ts';
import { TimelineDays } from '#console/pages/oncall/timeline_days.tsx';
import type { TimelineRange } from '#console/pages/oncall/timeline_range.ts';
import { TimelineRow } from '#console/pages/oncall/timeline_row.tsx';
import {
  type Selection,
  selectionsOf,
  type ShownSchedule,
  type ShownTimeline,
} from '#console/pages/oncall/use_timeline.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import classes from '#console/pages/oncall/schedule_page.module.css';

const PutOnCall = lazyDialog(() => import('#console/pages/oncall/override/put_on_call.tsx').then((m) => m.PutOnCall));
const ShiftDialog = lazyDialog(() => import('#console/pages/oncall/shift_dialog.tsx').then((m) => m.ShiftDialog));

const route = getRouteApi('/inside/oncall/schedules/$scheduleId');

export function SchedulePage() {
  const { scheduleId } = route.useParams();
  const { may } = useOrganization();
  return (
    <ScheduleFrame
      scheduleId={scheduleId}
      title={(name) => name}
      lead={({ teamId, teamName }) => (
        <Link to="/oncall/teams/$teamId" params={{ teamId }}>
          <Name>{teamName}</Name>
        </Link>
      )}
      actions={(schedule, timeline) =>
        may('oncall:edit') && (
          <>
            <PutSomebodyOnCall schedule={schedule} timeline={timeline} />
            <Duplicate schedule={schedule} />
            <Button
              variant="default"
              leftSection={<IconPencil size={16} />}
              renderRoot={(props) => (
                <Link to="/oncall/schedules/$scheduleId/edit" params={{ scheduleId }} {...props} />
              )}
            >
              Edit
            </Button>
          </>
        )
      }
    >
      {(schedule, timeline, range) => (
        <>
          <Schedule schedule={schedule} timeline={timeline} range={range} />
          <ManagedMark id={scheduleId} />
        </>
      )}
    </ScheduleFrame>
  );
}

/** Button that puts somebody on call in this schedule, from now on. */
function PutSomebodyOnCall({ schedule, timeline }: Omit<ScheduleProps, 'range'>) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button variant="default" leftSection={<IconUserCheck size={16} />} onClick={() => setIsOpen(true)}>
        Put somebody on call
      </Button>
      {isOpen && (
        <PutOnCall
          userId={null}
          schedules={[schedule]}
          scheduleCount={timeline.scheduleCount}
          onClose={() => setIsOpen(false)}
        />
      )}
    </>
  );
}

/** Button for a copy in which everybody takes the turn that is next: the usual way to make a secondary. */
function Duplicate({ schedule: { scheduleId, teamId, name: original } }: { readonly schedule: ShownSchedule }) {
  const { orgId } = useOrganization().org;
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [name, setName] = useState<string | null>(null);
  const [thenPolicy, setThenPolicy] = useState(true);
  const copying = useMutation({
    mutationFn: () => invoke(orgId, 'duplicate_schedule', { scheduleId, name: (name ?? '').trim() }),
    async onSuccess(copy) {
      setName(null);
      showSuccess(named`${copy.name} is created.`, copy.warnings);
      // The template of the policy names the schedules that the team has now.
      await refresh('teams');
      if (thenPolicy) await navigate({ to: '/oncall/policies/new', search: { team: teamId, template: 0 } });
      else await navigate({ to: '/oncall/schedules/$scheduleId', params: { scheduleId: copy.scheduleId } });
    },
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconCopy size={16} />}
        onClick={() =>
          setName(/primary/i.test(original) ? original.replace(/primary/i, 'Secondary') : `${original}, second`)
        }
      >
        Add a secondary
      </Button>
      {name !== null && (
        <FormDialog
          title={named`Add a secondary to ${original}`}
          onClose={() => setName(null)}
          saving={copying}
          failure="The schedule was not created"
          atFields={{ name }}
          submit="Create"
          isDisabled={name.trim() === ''}
          onSubmit={() => copying.mutate()}
        >
          <Text size="sm">
            A copy with the same layers, hours and holidays. On each layer it has on call whose turn follows, so that
            nobody stands beside themselves where two or more take turns. Overrides are not copied.
          </Text>
          <TextInput
            label="Name"
            value={name}
            error={faultsAtFields(copying.error, { name }).name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            maxLength={500}
            data-autofocus
          />
          <Checkbox
            label="Then create a policy"
            description="Pages who is on call in the first schedule of the team, and after ten minutes in the second."
            checked={thenPolicy}
            onChange={({ currentTarget }) => setThenPolicy(currentTarget.checked)}
          />
        </FormDialog>
      )}
    </>
  );
}

interface ScheduleProps {
  readonly schedule: ShownSchedule;
  readonly timeline: ShownTimeline;
  readonly range: TimelineRange;
}

function Schedule({ schedule, timeline, range }: ScheduleProps) {
  const { may } = useOrganization();
  const [selected, setSelected] = useState<Selection | null>(null);
  const now = useNow(30);
  const selections = selectionsOf(schedule, range.from, range.to);
  return (
    <PersonColors value={timeline.colorOf}>
      <PagesNobody schedule={schedule} />
      <Gaps schedules={[schedule]} onOpen={setSelected} />
      <Card title="The next four weeks">
        <div className={`${classes.timeline} bordered`}>
          <TimelineDays range={range} now={now} />
          <div className={classes.track}>
            <TimelineRow
              schedule={schedule}
              selections={selections}
              range={range}
              now={now}
              nameOf={timeline.nameOf}
              onOpen={setSelected}
              onMark={may('oncall:edit') ? setSelected : undefined}
            />
          </div>
        </div>
        <Agenda timeline={timeline} range={range} isStale={false} onOpen={setSelected} isWithoutHead />
      </Card>
      <LayersCard schedule={schedule} nameOf={timeline.nameOf} />
      <CalendarCard scheduleId={schedule.scheduleId} name={schedule.name} />
      <DeleteCard schedule={schedule} />
      {selected !== null && (
        <ShiftDialog
          selection={selected}
          schedule={schedule}
          nameOf={timeline.nameOf}
          onClose={() => setSelected(null)}
        />
      )}
    </PersonColors>
  );
}

function LayersCard({ schedule, nameOf }: { schedule: ShownSchedule; nameOf: ShownTimeline['nameOf'] }) {
  const { timezone, handOver } = schedule;
  const layers = layersOf(schedule);
  const at = handOver === null ? null : Date.parse(handOver.at);
  const next = handOver === null ? [] : (layers[0]?.turns[handOver.position]?.userIds ?? []);
  const { isUnreached } = useNamesOf(layers.flatMap(({ turns }) => turns.flatMap(({ userIds }) => userIds)));
  const textOf = (userIds: readonly string[]) => (userIds.length === 0 ? 'Nobody' : userIds.map(nameOf).join(', '));
  return (
    <Card
      title={layers.length === 1 ? 'Rotation' : 'Layers, the highest first'}
      rows={
        <>
          {layers.toReversed().map((layer) => (
            <Row
              key={layer.layerId}
              title={`${layers.length === 1 ? 'Turns' : `${layer.name}: turns`} change ${turnLengthText(layer.rotation)}`}
              sub={
                <>
                  {layer.turns.length === 0 ? (
                    'Nobody takes turns yet.'
                  ) : (
                    <ol className={classes.order}>
                      {layer.turns.map(({ userIds }, index) => (
                        // The same people may have several turns.
                        // eslint-disable-next-line react/no-array-index-key
                        <li key={index}>
                          {userIds[0] !== undefined && <PersonDot userId={userIds[0]} />}
                          <Name>{textOf(userIds)}</Name>
                          {userIds.some(isUnreached) && <Status tone="amber">nothing reaches them</Status>}
                        </li>
                      ))}
                    </ol>
                  )}
                  {layer.hours !== null && <div>On call {rowsOf(layer.hours).map(rowText).join('; ')}</div>}
                  {layer.holidays !== null && (
                    <div>{layer.holidays.on === 'silent' ? 'Off on holidays' : 'On holidays only'}</div>
                  )}
                  {layer.endsAt !== null && <div>Until {momentText(Date.parse(layer.endsAt))}</div>}
                </>
              }
            />
          ))}
          {at !== null && (
            <Row
              title="Next hand-over"
              sub={
                <>
                  {momentText(at)}
                  {isOtherTime(timezone, at, at) && `, which is ${momentText(at, timezone)} in ${timezone}`}, to{' '}
                  <Name>{textOf(next)}</Name>
                </>
              }
            />
          )}
          <Row title="Time zone" sub={timezone} />
        </>
      }
    >
      <CopyId of="the schedule" value={schedule.scheduleId} />
    </Card>
  );
}

function DeleteCard({ schedule: { scheduleId, name } }: { readonly schedule: ShownSchedule }) {
  const { org, may } = useOrganization();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [isOpen, setIsOpen] = useState(false);
  const deleting = useMutation({
    mutationFn: () => invoke(org.orgId, 'delete_schedule', { scheduleId }),
    async onSuccess() {
      showSuccess(named`${name} is deleted.`);
      await navigate({ to: '/oncall' });
    },
    onSettled: () => refresh('teams'),
  });
  if (!may('oncall:edit')) return null;
  return (
    <Card
      title="Danger zone"
      rows={
        <Row
          title="Delete the schedule"
          sub="With its overrides. Policies that page the people on call in the team no longer page these people."
        >
          <Button color="red" variant="light" onClick={() => setIsOpen(true)}>
            Delete
          </Button>
        </Row>
      }
    >
      {isOpen && (
        <Confirm
          title={named`Delete ${name}?`}
          name={name}
          button="Delete"
          saving={deleting}
          onConfirm={() => deleting.mutate()}
          onClose={() => setIsOpen(false)}
        >
          Its overrides and calendar addresses are deleted, too. It cannot be undone.
        </Confirm>
      )}
    </Card>
  );
}

interface CalendarCardProps {
  readonly scheduleId: string;
  readonly name: string;
}

/** Card of the secret address where calendar programs read the schedule. The audit log records each view of it. */
function CalendarCard({ scheduleId, name }: CalendarCardProps) {
  const { org, may } = useOrganization();
  const [url, setUrl] = useState<string | null | undefined>(undefined);
  const [isRevoking, setIsRevoking] = useState(false);
  const { orgId } = org;
  const showing = useMutation({
    mutationFn: () => invoke(orgId, 'get_calendar_feed', { scheduleId }),
    onSuccess: (feed) => setUrl(feed.url),
  });
  const creating = useMutation({
    mutationFn: () => invoke(orgId, 'create_calendar_feed', { scheduleId }),
    onSuccess: (feed) => setUrl(feed.url),
  });
  const revoking = useMutation({
    mutationFn: () => invoke(orgId, 'revoke_calendar_feed', { scheduleId }),
    onSuccess() {
      setUrl(null);
      setIsRevoking(false);
      showSuccess(named`No calendar reads ${name} any more.`);
    },
  });
  const mayEdit = may('oncall:edit');
  const error = showing.error ?? creating.error;
  return (
    <Card
      title="Calendar"
      about="Calendar programs show this schedule from a secret address of your own. Everyone who knows it can read the schedule. It stops working when you leave."
    >
      {typeof url === 'string' && <CopyField label="Address for your calendar" value={url} />}
      {url === null && !mayEdit && <p>You have no address, and your role may not create one.</p>}
      {url === null && mayEdit && <p>You have no address yet.</p>}
      {error !== null && <ErrorAlert title="There is no address" error={error} />}
      <Group mt="sm">
        {url === undefined && (
          <Button variant="default" onClick={() => showing.mutate()} loading={showing.isPending}>
            Show your address
          </Button>
        )}
        {url === null && mayEdit && (
          <Button variant="default" onClick={() => creating.mutate()} loading={creating.isPending}>
            Create an address
          </Button>
        )}
        {typeof url === 'string' && mayEdit && (
          <Button variant="default" onClick={() => setIsRevoking(true)}>
            Revoke all addresses
          </Button>
        )}
      </Group>
      {isRevoking && (
        <Confirm
          title={named`Revoke the calendar addresses of ${name}?`}
          button="Revoke"
          saving={revoking}
          onConfirm={() => revoking.mutate()}
          onClose={() => setIsRevoking(false)}
        >
          The addresses of everybody stop working immediately, and calendars show nothing new. It cannot be undone, but
          everybody can create a new address.
        </Confirm>
      )}
    </Card>
  );
}
