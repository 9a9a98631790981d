import { Skeleton } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';

import { invoke } from '#console/api/actions.ts';
import { ruleQuery } from '#console/api/rules.ts';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { useOnlyPolicy } from '#console/components/forms/policy_picker.tsx';
import { RuleEditor } from '#console/pages/rules/rule_editor.tsx';
import {
  faultsOf,
  sentConfig,
  type RuleValues,
  serverFaults,
  valuesOfRule,
  valuesOfStart,
} from '#console/pages/rules/rule_values.ts';
import { settingsOfValues } from '#console/pages/rules/settings/setting_values.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/rules/new');

/** Page with the form of a new rule, which may begin as a copy, or with what another page shows. */
export function NewRule() {
  const start = route.useSearch();
  const { orgId } = useOrganization().org;
  const { data, isLoading } = useQuery({ ...ruleQuery(orgId, start.copy ?? ''), enabled: start.copy !== undefined });
  const onlyPolicy = useOnlyPolicy();
  if (isLoading) {
    return (
      <Page title="Create a rule" above={<Back to="/rules">Rules</Back>}>
        <Skeleton height={420} radius="lg" />
      </Page>
    );
  }
  const base =
    data === undefined || data === null
      ? { ...valuesOfStart(start), escalationPolicyId: start.policy ?? onlyPolicy }
      : { ...valuesOfRule(data), name: `${data.name} (copy)`, enabled: true };
  return <Editor key={JSON.stringify(start)} base={base} name={`create_alert_rule ${JSON.stringify(start)}`} />;
}

function Editor({ base, name }: { readonly base: RuleValues; readonly name: string }) {
  const { orgId } = useOrganization().org;
  const navigate = useNavigate();
  const refresh = useRefresh();
  const { form, draft } = useDraftForm<RuleValues>({ form: name, base, validate: faultsOf });
  const creating = useMutation({
    mutationFn: ({ escalationPolicyId, serviceId, name: title, kind, config, settings, enabled }: RuleValues) =>
      invoke(orgId, 'add_alert_rule', {
        serviceId: serviceId ?? '',
        name: title.trim(),
        kind,
        config: sentConfig(config),
        settings: settingsOfValues(kind, settings),
        enabled,
        ...(escalationPolicyId !== null && { escalationPolicyId }),
      }),
    onError: (error) => form.setErrors(serverFaults(error)),
    onSuccess: async ({ ruleId, name: title }) => {
      draft.done();
      await refresh('rules');
      showSuccess(named`${title} is created.`);
      await navigate({ to: '/rules/$ruleId', params: { ruleId }, replace: true });
    },
  });
  return (
    <RuleEditor
      title="Create a rule"
      above={<Back to="/rules">Rules</Back>}
      form={form}
      draft={draft}
      isNew
      button="Create"
      error={creating.error}
      isPending={creating.isPending}
      onSave={(values) => creating.mutate(values)}
      onCancel={() => void navigate({ to: '/rules' })}
    />
  );
}
