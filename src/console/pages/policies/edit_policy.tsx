import { Skeleton } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';

import { invoke, topicKey } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { type PolicyDetails, policyQuery } from '#console/api/teams.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { type PolicyDraft, toDraft, toPolicyInput } from '#console/pages/policies/policy_draft.ts';
import { PolicyForm } from '#console/pages/policies/policy_form.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/oncall/policies/$policyId/edit');

export function EditPolicy() {
  const { policyId } = route.useParams();
  const { org, may } = useOrganization();
  const { data, error, refetch } = useQuery(policyQuery(org.orgId, policyId));
  return (
    <Page
      title={data === undefined ? 'Edit a policy' : `Edit ${data.name}`}
      above={
        <Back to="/oncall/policies/$policyId" params={{ policyId }}>
          {data === undefined ? 'Policy' : <Name>{data.name}</Name>}
        </Back>
      }
      lead="Minutes count from the trigger of an incident. Open incidents keep the steps that they began with."
    >
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={420} radius="lg" />}
      {data !== undefined && !may('oncall:edit') && <p>Your role cannot change policies.</p>}
      {data !== undefined && may('oncall:edit') && <Form key={policyId} policy={data} />}
    </Page>
  );
}

function Form({ policy }: { readonly policy: PolicyDetails }) {
  const { org } = useOrganization();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { policyId, name, teamId, steps, repeat, hours, updatedAt } = policy;
  const base = useMemo(
    (): PolicyDraft => toDraft({ name, teamId, steps, ...(repeat && { repeat }), ...(hours && { hours }) }),
    [name, teamId, steps, repeat, hours],
  );
  const [values, setValues, draft] = useDraftState({ form: `update_escalation_policy ${policyId}`, base });
  const toPolicy = () => navigate({ to: '/oncall/policies/$policyId', params: { policyId } });
  const saving = useMutation({
    mutationFn: () =>
      invoke(org.orgId, 'replace_escalation_policy', {
        policyId,
        basedOn: updatedAt,
        name: values.name.trim(),
        ...toPolicyInput(values),
      }),
    async onSuccess(saved) {
      draft.done();
      showSuccess(named`${saved.name} is saved.`);
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'teams') });
      await toPolicy();
    },
    // The form shows what the other person has saved beside the input.
    onError: (error) =>
      isApiError(error, 409)
        ? queryClient.invalidateQueries({ queryKey: policyQuery(org.orgId, policyId).queryKey })
        : undefined,
  });
  return (
    <PolicyForm
      values={values}
      setValues={setValues}
      draft={draft}
      isNew={false}
      policyId={policyId}
      button="Save"
      isPending={saving.isPending}
      error={saving.error}
      onSave={() => saving.mutate()}
      onCancel={() => void toPolicy()}
    />
  );
}
