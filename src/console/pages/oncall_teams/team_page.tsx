import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { type TeamDetails, teamQuery } from '#console/api/teams.ts';
import { People } from '#console/components/text/person_dot.tsx';
import { Card, Row } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { CopyId } from '#console/components/forms/copy_field.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { ManagedMark } from '#console/components/managed_mark.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { IconPencil, IconTrash, IconUserPlus, IconUsersGroup } from '#console/icons.ts';
import { Members } from '#console/pages/oncall_teams/members.tsx';
import { Warnings } from '#console/pages/policies/warnings.tsx';
import { NotLoaded } from '#console/shell/in_other_organization.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import classes from '#console/pages/oncall_teams/oncall_teams.module.css';

const AddMember = lazyDialog(() => import('#console/pages/oncall_teams/add_member.tsx').then((m) => m.AddMember));
const RenameTeam = lazyDialog(() => import('#console/pages/oncall_teams/rename_team.tsx').then((m) => m.RenameTeam));

const route = getRouteApi('/inside/oncall/teams/$teamId');

/** Page of a team: its members with how each is reached, and what belongs to it. */
export function TeamPage() {
  const { teamId } = route.useParams();
  const { org } = useOrganization();
  const loading = useQuery(teamQuery(org.orgId, teamId));
  const { data, error } = loading;
  const back = <Back to="/oncall/teams">Teams</Back>;
  if (data !== undefined && !isApiError(error, 404)) return <Team key={teamId} team={data} back={back} />;
  return (
    <Page title="Team" above={back}>
      <NotLoaded
        noun="Team"
        icon={<IconUsersGroup size={24} />}
        query={loading}
        find={(client, orgId) => client.fetchQuery(teamQuery(orgId, teamId))}
        heights={[360]}
      />
    </Page>
  );
}

type Open = 'rename' | 'add' | 'delete' | null;

function Team({ team, back }: { readonly team: TeamDetails; readonly back: React.ReactNode }) {
  const { may } = useOrganization();
  const [open, setOpen] = useState<Open>(null);
  const { teamId, name, onCall, warnings } = team;
  const mayEdit = may('oncall:edit');
  const close = () => setOpen(null);
  return (
    <Page
      title={name}
      permission="oncall:edit"
      above={back}
      lead={
        onCall.length === 0 ? (
          'Nobody is on call now.'
        ) : (
          <>
            On call now: <People people={onCall} />
          </>
        )
      }
      actions={
        mayEdit && (
          <>
            <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => setOpen('rename')}>
              Rename
            </Button>
            <Button leftSection={<IconUserPlus size={18} />} onClick={() => setOpen('add')}>
              Add a member
            </Button>
          </>
        )
      }
    >
      {mayEdit && (
        <Warnings
          messages={warnings.filter(({ kind }) => kind !== 'member_unreachable').map(({ message }) => message)}
        />
      )}
      <div className={classes.columns}>
        <Members team={team} />
        <div>
          <Policies team={team} />
          <Schedules team={team} />
          <Card title="Team">
            <CopyId of={name} value={teamId} />
            {mayEdit && (
              <div className={classes.danger}>
                <Button
                  color="red"
                  variant="light"
                  leftSection={<IconTrash size={16} />}
                  onClick={() => setOpen('delete')}
                >
                  Delete the team
                </Button>
              </div>
            )}
          </Card>
        </div>
      </div>
      <ManagedMark id={team.teamId} />
      {open === 'rename' && <RenameTeam team={team} onClose={close} />}
      {open === 'add' && <AddMember team={team} onClose={close} />}
      {open === 'delete' && <DeleteTeam team={team} onClose={close} />}
    </Page>
  );
}

function Policies({ team: { teamId, policies } }: { readonly team: TeamDetails }) {
  const { may } = useOrganization();
  return (
    <Card
      title="Escalation policies"
      action={
        may('oncall:edit') && (
          <Link to="/oncall/policies/new" search={{ team: teamId }}>
            Create
          </Link>
        )
      }
      rows={
        policies.length === 0
          ? undefined
          : policies.map(({ policyId, name, steps }) => (
              <Row
                key={policyId}
                title={
                  <Link to="/oncall/policies/$policyId" params={{ policyId }}>
                    <Name>{name}</Name>
                  </Link>
                }
                sub={`${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`}
              />
            ))
      }
    >
      {policies.length === 0 && <p className="dimmed small flush">None yet: no rule can page this team.</p>}
    </Card>
  );
}

function Schedules({ team: { teamId, schedules } }: { readonly team: TeamDetails }) {
  const { may } = useOrganization();
  return (
    <Card
      title="Schedules"
      action={
        may('oncall:edit') && (
          <Link to="/oncall/schedules/new" search={{ team: teamId }}>
            Create
          </Link>
        )
      }
      rows={
        schedules.length === 0
          ? undefined
          : schedules.map(({ scheduleId, name }) => (
              <Row
                key={scheduleId}
                title={
                  <Link to="/oncall/schedules/$scheduleId" params={{ scheduleId }}>
                    <Name>{name}</Name>
                  </Link>
                }
              />
            ))
      }
    >
      {schedules.length === 0 && <p className="dimmed small flush">None yet: no schedule says who is on call.</p>}
    </Card>
  );
}

interface DeleteTeamProps {
  readonly team: TeamDetails;
  readonly onClose: () => void;
}

function DeleteTeam({ team: { teamId, name, schedules, policies }, onClose }: DeleteTeamProps) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => invoke(org.orgId, 'delete_team', { teamId }),
    async onSuccess() {
      showSuccess(named`${name} is deleted.`);
      onClose();
      await navigate({ to: '/oncall/teams' });
      await refresh('teams');
    },
  });
  const parts = [
    `${schedules.length} ${schedules.length === 1 ? 'schedule' : 'schedules'}`,
    `${policies.length} ${policies.length === 1 ? 'escalation policy' : 'escalation policies'}`,
  ];
  return (
    <Confirm
      title={named`Delete ${name}?`}
      name={name}
      button="Delete"
      saving={deleting}
      onConfirm={() => deleting.mutate()}
      onClose={onClose}
    >
      Its {parts.join(' and its ')} go with it. Alert rules that use one of these policies stay and page nobody until
      another is chosen. Its members stay in the organization. This cannot be undone.
    </Confirm>
  );
}
