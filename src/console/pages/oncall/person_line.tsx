import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';

import type { Member } from '#console/api/organization.ts';
import { serverNow } from '#console/api/http.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { spanText } from '#console/pages/oncall/span_text.ts';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';
import { isUnreached } from '#console/components/text/role.ts';
import { useOrganization } from '#console/shell/organization.tsx';

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
          <Row
            title="How a page reaches them"
            sub={
              isUnreached(member)
                ? 'Nothing reaches them: they set up a channel on their page Me, which counts in every team.'
                : 'Their channels, and whether a message has arrived, are on the page of their team.'
            }
          >
            <Link to="/settings/members" search={{ q: email }}>
              Role and membership
            </Link>
          </Row>
        </>
      }
    />
  );
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
