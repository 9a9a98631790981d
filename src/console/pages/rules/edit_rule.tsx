import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';

import { invoke, type Rule } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { refreshRules, ruleQuery } from '#console/api/rules.ts';
import { Name, named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { IconActivityHeartbeat } from '#console/icons.ts';
import { RuleEditor } from '#console/pages/rules/rule_editor.tsx';
import { faultsOf, type RuleValues, sentConfig, serverFaults, valuesOfRule } from '#console/pages/rules/rule_values.ts';
import { settingsOfValues } from '#console/pages/rules/settings/setting_values.ts';
import { NotLoaded } from '#console/shell/in_other_organization.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/rules/$ruleId/edit');

export function EditRule() {
  const { ruleId } = route.useParams();
  const { org } = useOrganization();
  const loading = useQuery(ruleQuery(org.orgId, ruleId));
  const { data } = loading;
  if (data !== undefined && data !== null) return <Editor key={ruleId} rule={data} />;
  return (
    <Page title="Edit the rule">
      <NotLoaded
        noun="Rule"
        icon={<IconActivityHeartbeat size={24} />}
        query={loading}
        find={(client, orgId) => client.fetchQuery(ruleQuery(orgId, ruleId))}
        heights={[420]}
      />
    </Page>
  );
}

function Editor({ rule }: { readonly rule: Rule }) {
  const { orgId } = useOrganization().org;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { ruleId } = rule;
  const { form, draft } = useDraftForm<RuleValues>({
    form: `update_alert_rule ${ruleId}`,
    base: valuesOfRule(rule),
    validate: faultsOf,
  });
  const saving = useMutation({
    mutationFn: ({ name, kind, config, settings, escalationPolicyId, enabled }: RuleValues) =>
      invoke(orgId, 'replace_alert_rule', {
        ruleId,
        basedOn: rule.updatedAt,
        name: name.trim(),
        config: sentConfig(config),
        settings: settingsOfValues(kind, settings),
        escalationPolicyId,
        enabled,
      }),
    onError: async (error) => {
      form.setErrors(serverFaults(error));
      // Somebody else was faster: the form shows what they saved beside the input.
      if (isApiError(error, 409)) await refreshRules(queryClient, orgId, { ruleIds: [ruleId] });
    },
    onSuccess: async ({ name }) => {
      draft.done();
      await refreshRules(queryClient, orgId, { ruleIds: [ruleId] });
      showSuccess(named`${name} is saved.`);
      await navigate({ to: '/rules/$ruleId', params: { ruleId }, replace: true });
    },
  });
  return (
    <RuleEditor
      title="Edit the rule"
      above={
        <Back to="/rules/$ruleId" params={{ ruleId }}>
          <Name>{rule.name}</Name>
        </Back>
      }
      form={form}
      draft={draft}
      ruleId={ruleId}
      isNew={false}
      serviceName={rule.serviceName}
      button="Save"
      error={saving.error}
      isPending={saving.isPending}
      onSave={(values) => saving.mutate(values)}
      onCancel={() => void navigate({ to: '/rules/$ruleId', params: { ruleId } })}
    />
  );
}
