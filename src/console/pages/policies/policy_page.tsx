import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { type PolicyDetails, policyQuery } from '#console/api/teams.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { CopyId } from '#console/components/forms/copy_field.tsx';
import { ManagedMark } from '#console/components/managed_mark.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { Status } from '#console/components/status.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { durationText } from '#console/components/text/time_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconPencil, IconPlayerPlay, IconStairsUp, IconTrash } from '#console/icons.ts';
import { EscalationFlow } from '#console/pages/policies/escalation_flow.tsx';
import { Warnings } from '#console/pages/policies/warnings.tsx';
import { NotLoaded } from '#console/shell/in_other_organization.tsx';
import { useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import classes from '#console/pages/policies/policy_page.module.css';

const route = getRouteApi('/inside/oncall/policies/$policyId');

export function BackToPolicies() {
  return <Back to="/oncall/policies">Policies</Back>;
}

/** Page of a policy: its steps from top to bottom, whom each would page now, and what uses it. */
export function PolicyPage() {
  const { policyId } = route.useParams();
  const { org } = useOrganization();
  const loading = useQuery(policyQuery(org.orgId, policyId));
  const { data, error } = loading;
  if (data !== undefined && !isApiError(error, 404)) return <Policy key={policyId} policy={data} />;
  return (
    <Page title="Escalation policy" above={<BackToPolicies />}>
      <NotLoaded
        noun="Policy"
        icon={<IconStairsUp size={24} />}
        query={loading}
        find={(client, orgId) => client.fetchQuery(policyQuery(orgId, policyId))}
        heights={[420]}
      />
    </Page>
  );
}

function Policy({ policy }: { readonly policy: PolicyDetails }) {
  const { may } = useOrganization();
  const navigate = route.useNavigate();
  const [isDeleting, setIsDeleting] = useState(false);
  const { policyId, name, teamId, teamName, steps, rules, ruleCount, updatedAt } = policy;
  const edit = (): void => void navigate({ to: '/oncall/policies/$policyId/edit', params: { policyId } });
  const mayEdit = may('oncall:edit');
  useShortcut('e', () => {
    if (mayEdit) edit();
  });
  return (
    <Page
      title={name}
      permission="oncall:edit"
      above={<BackToPolicies />}
      lead={
        <>
          Last changed <Timestamp at={updatedAt} />. Team:{' '}
          <Link to="/oncall/teams/$teamId" params={{ teamId }}>
            <Name>{teamName}</Name>
          </Link>
        </>
      }
      actions={
        <>
          <Button
            variant="default"
            leftSection={<IconPlayerPlay size={16} />}
            onClick={() => void navigate({ to: '/oncall/simulator', search: { policy: policyId } })}
          >
            Simulate
          </Button>
          {mayEdit && (
            <Button leftSection={<IconPencil size={16} />} onClick={edit}>
              Edit
            </Button>
          )}
        </>
      }
    >
      {mayEdit && <Warnings messages={warningsBesideSteps(policy)} />}
      <div className={classes.columns}>
        <Card title="If an incident opened now" about="And nobody answered.">
          {steps.length === 0 ? (
            <p className="dimmed small flush">No steps: nobody is paged.</p>
          ) : (
            <EscalationFlow steps={policy.now} />
          )}
          <RepeatAndHours policy={policy} />
        </Card>
        <div>
          <UsedBy policyId={policyId} rules={rules} ruleCount={ruleCount} />
          <Card title="Policy">
            <CopyId of={name} value={policyId} />
            {mayEdit && (
              <div className={classes.danger}>
                <Button
                  color="red"
                  variant="light"
                  leftSection={<IconTrash size={16} />}
                  onClick={() => setIsDeleting(true)}
                >
                  Delete the policy
                </Button>
              </div>
            )}
          </Card>
        </div>
      </div>
      <ManagedMark id={policyId} />
      {isDeleting && <DeletePolicy policy={policy} onClose={() => setIsDeleting(false)} />}
    </Page>
  );
}

const DAYS = ['', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

/** Sentences about the repetition and the hours of a policy. */
function RepeatAndHours({ policy: { repeat, hours } }: { readonly policy: Pick<PolicyDetails, 'repeat' | 'hours'> }) {
  const windows = hours?.windows.map(({ days, from, to }) => {
    return `${days.map((day) => DAYS[day] ?? '').join(', ')} ${from}–${to}`;
  });
  return (
    <>
      {repeat !== undefined && (
        <p className="dimmed small flush">
          If nobody answers, the steps begin again {repeat.times} {repeat.times === 1 ? 'time' : 'times'},{' '}
          {durationText(repeat.pauseMinutes * 60_000)} after the last one.
        </p>
      )}
      {hours !== undefined && (
        <p className="dimmed small flush">
          Hours: {windows?.join('; ')} ({hours.timezone}). Outside them{' '}
          {hours.outside === 'hold' ? (
            'it waits until they begin'
          ) : (
            <Link to="/oncall/policies/$policyId" params={{ policyId: hours.outside.policyId }}>
              another policy runs
            </Link>
          )}
          {hours.exemptFrom !== null && `; ${hours.exemptFrom} and worse pages at any time`}.
        </p>
      )}
    </>
  );
}

/** Returns the warnings that the steps do not show: they name the people they do not reach. */
function warningsBesideSteps({ warnings }: PolicyDetails): string[] {
  return warnings.filter(({ kind }) => kind !== 'step_reaches_nobody').map(({ message }) => message);
}

function UsedBy({ policyId, rules, ruleCount }: Pick<PolicyDetails, 'policyId' | 'rules' | 'ruleCount'>) {
  if (ruleCount === 0) {
    return (
      <Card title="Used by">
        <p className="dimmed small flush">
          No rule pages by this policy yet.{' '}
          <Link to="/rules/new" search={{ policy: policyId }}>
            Create a rule
          </Link>
        </p>
      </Card>
    );
  }
  return (
    <Card
      title="Used by"
      about={`${ruleCount} ${ruleCount === 1 ? 'rule' : 'rules'}${ruleCount > rules.length ? `, the first ${rules.length} are shown` : ''}`}
      rows={rules.map(({ ruleId, name, enabled, serviceId, serviceName }) => (
        <Row
          key={ruleId}
          title={
            <Link to="/rules/$ruleId" params={{ ruleId }}>
              <Name>{name}</Name>
            </Link>
          }
          sub={
            <Link to="/services/$serviceId" params={{ serviceId }}>
              <Name>{serviceName}</Name>
            </Link>
          }
        >
          {!enabled && <Status tone="gray">disabled</Status>}
          <Link
            to="/oncall/simulator"
            search={{ service: serviceId, rule: ruleId }}
            aria-label={`Simulate ${name} of ${serviceName}`}
          >
            Simulate
          </Link>
        </Row>
      ))}
    />
  );
}

interface DeletePolicyProps {
  readonly policy: PolicyDetails;
  readonly onClose: () => void;
}

function DeletePolicy({ policy: { policyId, name, ruleCount }, onClose }: DeletePolicyProps) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => invoke(org.orgId, 'delete_escalation_policy', { policyId }),
    async onSuccess() {
      showSuccess(named`${name} is deleted.`);
      onClose();
      await navigate({ to: '/oncall/policies' });
      await refresh('teams');
    },
  });
  const rules = `${ruleCount} ${ruleCount === 1 ? 'rule that uses it stays and pages' : 'rules that use it stay and page'}`;
  return (
    <Confirm
      title={named`Delete ${name}?`}
      {...(ruleCount > 0 && { name })}
      button="Delete"
      saving={deleting}
      onConfirm={() => deleting.mutate()}
      onClose={onClose}
    >
      {ruleCount === 0 ? 'No rule uses it.' : `The ${rules} nobody until another policy is chosen.`} Open incidents keep
      the steps that they began with. This cannot be undone.
    </Confirm>
  );
}
