import { Button, Skeleton } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';

import {
  type FoundTeam,
  type PersonWithoutTeam,
  teamNamesQuery,
  teamSearchQuery,
  withoutTeamQuery,
} from '#console/api/teams.ts';
import { People } from '#console/components/text/person_dot.tsx';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { type Column, DataTable } from '#console/components/lists/data_table.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { SearchField } from '#console/components/lists/search_field.tsx';
import { Page, useOpenedByAddress } from '#console/components/page.tsx';
import { Status } from '#console/components/status.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { IconPlus, IconSearch, IconUsersGroup } from '#console/icons.ts';
import { CreateTeam } from '#console/pages/oncall_teams/create_team.tsx';
import { MembershipDialog } from '#console/pages/oncall_teams/membership_dialog.tsx';
import { ReadinessDetails, ReadinessStatus } from '#console/pages/oncall_teams/readiness.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/pages/oncall_teams/oncall_teams.module.css';

const route = getRouteApi('/inside/on-call/oncall/teams');

const COLUMNS: readonly Column<FoundTeam>[] = [
  {
    id: 'name',
    title: 'Team',
    isMain: true,
    cell: ({ teamId, name }) => (
      <Link to="/oncall/teams/$teamId" params={{ teamId }} className="row-link" data-row-link>
        <Name>{name}</Name>
      </Link>
    ),
  },
  {
    id: 'on_call',
    title: 'On call now',
    cell: ({ onCall }) => (onCall.length === 0 ? <span className="dimmed">nobody</span> : <People people={onCall} />),
  },
  {
    id: 'members',
    title: 'Members',
    isRightAligned: true,
    cell: ({ memberCount }) => <span className="numbers">{memberCount}</span>,
  },
  { id: 'woken', title: 'Would be woken', cell: (team) => <Woken team={team} /> },
  { id: 'state', title: 'Warnings', cell: (team) => <WarningCount team={team} /> },
];

/** Columns for those who cannot act on a warning. */
const COLUMNS_TO_READ = COLUMNS.filter(({ id }) => id !== 'state');

/** Page of the teams, and of the people who are in none: who is on call, and whom a page would wake. */
export function TeamList() {
  const { org, may } = useOrganization();
  const { q = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const text = useDebounced(q.trim());
  const [isCreating, setIsCreating] = useState(false);
  useOpenedByAddress('create', () => setIsCreating(may('oncall:edit')));
  const list = useInfiniteQuery(teamSearchQuery(org.orgId, text));
  const { data, error, refetch } = list;
  const teams = data?.pages.flatMap((page) => page.teams);
  const create = may('oncall:edit') && (
    <Button leftSection={<IconPlus size={18} />} onClick={() => setIsCreating(true)}>
      Create a team
    </Button>
  );
  const isEmpty = teams?.length === 0 && text === '';
  return (
    <Page
      title="Teams"
      permission="oncall:edit"
      lead="Who is on call together, and whether a page at night would wake them."
      actions={!isEmpty && create}
    >
      <SearchField
        isAlone
        label="Search teams and people"
        placeholder="Search teams and people"
        value={q}
        onChange={(wanted) => void navigate({ search: wanted === undefined ? {} : { q: wanted }, replace: true })}
      />
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={180} radius="lg" />}
      {teams?.length === 0 &&
        (text === '' ? (
          <EmptyState icon={<IconUsersGroup size={24} />} title="No team yet" actions={create}>
            A team has members, schedules that say whose turn it is, and escalation policies.
          </EmptyState>
        ) : (
          <EmptyState icon={<IconSearch size={24} />} title="No team or member has this name" />
        ))}
      {teams !== undefined && teams.length > 0 && (
        <DataTable
          label="Teams"
          columns={may('oncall:edit') ? COLUMNS : COLUMNS_TO_READ}
          items={teams}
          keyOf={({ teamId }) => teamId}
        />
      )}
      <LoadMore list={list} />
      <div className={classes.gap} />
      <PeopleWithoutTeam text={text} />
      {isCreating && <CreateTeam onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

function Woken({ team: { memberCount, readiness } }: { readonly team: FoundTeam }) {
  if (memberCount === 0) return <span className="dimmed">no members</span>;
  if (readiness.yes === memberCount) return <Status tone="green">all</Status>;
  const parts = [
    readiness.no > 0 && `${readiness.no} would not`,
    readiness.unproved > 0 && `${readiness.unproved} not tested`,
  ].filter((part) => part !== false);
  return <Status tone={readiness.no > 0 ? 'red' : 'amber'}>{parts.join(', ')}</Status>;
}

function WarningCount({ team: { warnings } }: { readonly team: FoundTeam }) {
  if (warnings.length === 0) return <span className="dimmed">none</span>;
  return (
    <span title={warnings.map(({ message }) => message).join('\n')}>
      <Status tone="amber">
        {warnings.length} {warnings.length === 1 ? 'warning' : 'warnings'}
      </Status>
    </span>
  );
}

interface AddToTeamProps {
  readonly person: PersonWithoutTeam;
  readonly onClose: () => void;
}

/** Dialog that adds somebody who is in no team to one. */
function AddToTeam({ person: { userId, name }, onClose }: AddToTeamProps) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const teamNameOf = (teamId: string): string => {
    const cachedNames = queryClient.getQueryData(teamNamesQuery(orgId, { teamIds: [teamId] }).queryKey);
    return cachedNames?.teams[0]?.name ?? 'the team';
  };
  return (
    <MembershipDialog
      title={named`Add ${name} to a team`}
      chosen={{ userId }}
      asked={{ name: 'teamId', fault: 'Choose a team' }}
      teamNameOf={teamNameOf}
      onClose={onClose}
      field={(form) => (
        <TeamPicker
          label="Team"
          placeholder="Choose a team"
          isRequired
          isFocused
          value={form.values.teamId === '' ? null : form.values.teamId}
          onChange={(teamId) => form.setFieldValue('teamId', teamId ?? '')}
          error={form.errors['teamId']}
        />
      )}
    />
  );
}

/** List of people whom only a step or an override can name. */
function PeopleWithoutTeam({ text }: { readonly text: string }) {
  const { org, may } = useOrganization();
  const [added, setAdded] = useState<PersonWithoutTeam | null>(null);
  const list = useInfiniteQuery(withoutTeamQuery(org.orgId, text));
  const people = list.data?.pages.flatMap((page) => page.people) ?? [];
  if (people.length === 0) return null;
  return (
    <>
      <Card
        title="In no team"
        about="A step or an override can name them. Pages find them by the number that they have given on their own page, by mail and on their devices."
        rows={people.map((person) => (
          <Row
            key={person.userId}
            title={
              <>
                <Name>{person.name}</Name> <ReadinessStatus readiness={person.readiness} />
              </>
            }
            sub={
              <>
                <Name>{person.email}</Name>
                <ReadinessDetails readiness={person.readiness} />
              </>
            }
          >
            {may('oncall:edit') && (
              <Button
                size="xs"
                variant="default"
                onClick={() => setAdded(person)}
                aria-label={`Add to a team: ${person.name}`}
              >
                Add to a team
              </Button>
            )}
          </Row>
        ))}
      />
      <LoadMore list={list} />
      {added !== null && <AddToTeam person={added} onClose={() => setAdded(null)} />}
    </>
  );
}
