import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { actionQuery, type ResultOf } from '#console/api/actions.ts';
import type { Member } from '#console/api/organization.ts';
import { serverNow } from '#console/api/http.ts';
import { Card, Row } from '#console/components/card.tsx';
import { errorMessage } from '#console/components/error_alert.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { spanText } from '#console/pages/oncall/span_text.ts';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';
import { ReadinessDetails } from '#console/pages/oncall_teams/readiness.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { CHANNEL_DECLARATIONS, CHANNELS } from '#modules/contacts/decide/channel.ts';

type Step = ResultOf<'get_member_reach'>['places'][number]['steps'][number];

const SHIFTS_SHOWN_MAX = 3;

interface PersonLineProps {
  readonly member: Member;
  /** Schedules in which they have a shift in the time shown. */
  readonly schedules: readonly ShownSchedule[];
  readonly onPut: () => void;
  readonly onClose: () => void;
}

/** Card of a person above their schedules: role, when they are on call, teams, and whether a page reaches them. */
export function PersonLine({ member, schedules, onPut, onClose }: PersonLineProps) {
  const { may } = useOrganization();
  const { userId, name, email, role, color, teams } = member;
  const shifts = shiftsOf(schedules, userId);
  return (
    <Card
      title={
        <Person userId={userId} color={color}>
          {name}
        </Person>
      }
      about={
        <>
          {role}, <Name>{email}</Name>
        </>
      }
      action={
        <>
          {may('oncall:edit') && (
            <Button variant="default" onClick={onPut}>
              Put on call
            </Button>
          )}
          <Button variant="default" onClick={onClose}>
            Show everybody
          </Button>
        </>
      }
      rows={
        <>
          <Row
            title="On call"
            sub={
              <>
                {shifts.length === 0 && 'Not in the time shown below.'}
                {shifts.slice(0, SHIFTS_SHOWN_MAX).map(({ schedule, since, until }) => (
                  <div key={`${schedule.scheduleId} ${since}`}>
                    {since <= serverNow() && 'Now, '}
                    {spanText(since, until)}, in{' '}
                    <Link to="/oncall/schedules/$scheduleId" params={{ scheduleId: schedule.scheduleId }}>
                      <Name>{schedule.name}</Name>
                    </Link>
                  </div>
                ))}
                {shifts.length > SHIFTS_SHOWN_MAX && `And ${shifts.length - SHIFTS_SHOWN_MAX} more, shown below.`}
              </>
            }
          />
          <Row
            title="Teams"
            sub={teams.length === 0 ? 'None.' : teams.map((team) => <TeamLink key={team.teamId} team={team} />)}
          />
          <Row title="How a page reaches them" sub={<Reach userId={userId} />}>
            <Link to="/settings/members" search={{ q: email }}>
              Role and membership
            </Link>
          </Row>
        </>
      }
    />
  );
}

/** Number, steps and channels of somebody in each of their teams. */
function Reach({ userId }: { readonly userId: string }) {
  const { org, session } = useOrganization();
  const { data, error } = useQuery(actionQuery(org.orgId, 'teams', 'get_member_reach', { userId }));
  if (error !== null && data === undefined) return <>{errorMessage(error)}</>;
  if (data === undefined) return <Skeleton height={64} />;
  const places = data.places.map(({ teamId, teamName, phone, steps, readiness }) => {
    const isFirst = new Set(steps.flatMap(({ channels }) => channels));
    const order = [...isFirst, ...CHANNELS.filter((channel) => !isFirst.has(channel))];
    const channels = readiness.channels.toSorted((a, b) => order.indexOf(a.channel) - order.indexOf(b.channel));
    return (
      <div key={teamId}>
        <div>
          {data.places.length > 1 && teamName !== null && <>{named`In ${teamName}: `}</>}
          {phone === null ? 'no number yet' : <span className="numbers">{phone}</span>}
          {phone === null && <AddNumber teamId={teamId} isOwn={userId === session.user.userId} />}
        </div>
        <div>{stepsText(teamId, steps)}</div>
        <ReadinessDetails readiness={{ ...readiness, channels }} />
      </div>
    );
  });
  return <div className="stack spaced">{places}</div>;
}

/** Returns when and by what a page comes, in one sentence. */
function stepsText(teamId: string | null, steps: readonly Step[]): string {
  if (teamId === null) return 'In no team. Paged where a policy or an override names them.';
  if (steps.length === 0) return 'No policy of the team pages them.';
  const parts = steps.map(({ afterMinutes, channels }) => {
    const names = channels.map((channel) => CHANNEL_DECLARATIONS[channel].name).join(' and ');
    return `${afterMinutes === 0 ? 'at once' : `after ${afterMinutes} min`} by ${names}`;
  });
  return `Paged ${[...new Set(parts)].join(', ')}.`;
}

interface AddNumberProps {
  readonly teamId: string | null;
  readonly isOwn: boolean;
}

/** Says where a number is added, with a link for whoever may add it. */
function AddNumber({ teamId, isOwn }: AddNumberProps) {
  const { may } = useOrganization();
  if (isOwn)
    return (
      <>
        . <Link to="/me">Add yours</Link>
      </>
    );
  if (teamId !== null && may('oncall:edit'))
    return (
      <>
        .{' '}
        <Link to="/oncall/teams/$teamId" params={{ teamId }}>
          Add it in the team
        </Link>
      </>
    );
  return <>. They add it on their page Me.</>;
}

function TeamLink({ team: { teamId, name } }: { readonly team: Member['teams'][number] }) {
  return (
    <div>
      <Link to="/oncall/teams/$teamId" params={{ teamId }}>
        <Name>{name}</Name>
      </Link>
    </div>
  );
}

/** Returns the shifts of somebody that are not over, the first one first. */
function shiftsOf(schedules: readonly ShownSchedule[], userId: string) {
  return schedules
    .flatMap((schedule) =>
      schedule.shifts
        .filter(({ userIds, until }) => userIds.includes(userId) && (until === null || Date.parse(until) > serverNow()))
        .map(({ since, until }) => ({
          schedule,
          since: Date.parse(since),
          until: until === null ? null : Date.parse(until),
        })),
    )
    .toSorted((a, b) => a.since - b.since);
}
