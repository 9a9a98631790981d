import { Button, Skeleton } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { pagingProblemsQuery } from '#console/api/home.ts';
import { type PolicyInUse, policySearchQuery } from '#console/api/teams.ts';
import { type Column, DataTable } from '#console/components/lists/data_table.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Page } from '#console/components/page.tsx';
import { SearchField } from '#console/components/lists/search_field.tsx';
import { Status } from '#console/components/status.tsx';
import { durationText } from '#console/components/text/time_text.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import { Templates } from './templates.tsx';
import { IconPlus, IconSearch, IconStairsUp } from '#console/icons.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/on-call/oncall/policies');

const COLUMNS: readonly Column<PolicyInUse>[] = [
  {
    id: 'name',
    title: 'Policy',
    isMain: true,
    cell: ({ policyId, name }) => (
      <Link to="/oncall/policies/$policyId" params={{ policyId }} className="row-link" data-row-link>
        <Name>{name}</Name>
      </Link>
    ),
  },
  { id: 'team', title: 'Team', cell: ({ teamName }) => <Name>{teamName}</Name> },
  { id: 'steps', title: 'Steps', cell: stepsText },
  { id: 'rules', title: 'Used by', cell: (policy) => <UsedBy policy={policy} /> },
  { id: 'state', title: 'State', cell: (policy) => <PolicyState policy={policy} /> },
];

/** Page of every escalation policy: where it is used, and whether it would reach somebody now. */
export function PolicyList() {
  const { org, may } = useOrganization();
  const { q = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const text = useDebounced(q.trim());
  const list = useInfiniteQuery(policySearchQuery(org.orgId, text));
  const { data, error, refetch } = list;
  const policies = data?.pages.flatMap((page) => page.policies);
  const isEmpty = policies?.length === 0;
  return (
    <Page
      title="Escalation policies"
      permission="oncall:edit"
      lead="Who is paged, in which order and how, while nobody answers."
      actions={
        may('oncall:edit') && (
          <Button
            leftSection={<IconPlus size={18} />}
            onClick={() => void navigate({ to: '/oncall/policies/new', search: {} })}
          >
            Create a policy
          </Button>
        )
      }
    >
      {!(isEmpty && q === '') && (
        <SearchField
          isAlone
          label="Search policies"
          placeholder="Search policies"
          value={q}
          onChange={(wanted) => void navigate({ search: wanted === undefined ? {} : { q: wanted }, replace: true })}
        />
      )}
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={180} radius="lg" />}
      {isEmpty &&
        (text === '' ? (
          <EmptyState icon={<IconStairsUp size={24} />} title="No policy yet">
            An alert rule without a policy opens incidents and pages nobody.
          </EmptyState>
        ) : (
          <EmptyState icon={<IconSearch size={24} />} title="No policy has this name" />
        ))}
      {isEmpty && text === '' && may('oncall:edit') && (
        <Templates onChoose={(template) => void navigate({ to: '/oncall/policies/new', search: { template } })} />
      )}
      {policies !== undefined && policies.length > 0 && (
        <DataTable label="Escalation policies" columns={COLUMNS} items={policies} keyOf={({ policyId }) => policyId} />
      )}
      <LoadMore list={list} />
    </Page>
  );
}

function stepsText({ steps }: PolicyInUse): string {
  const last = Math.max(0, ...steps.map(({ afterMinutes }) => afterMinutes));
  const count = `${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`;
  return last === 0 ? count : `${count} in ${durationText(last * 60_000)}`;
}

function UsedBy({ policy: { rules, ruleCount } }: { readonly policy: PolicyInUse }) {
  if (ruleCount === 0) return <span className="dimmed">no rule</span>;
  const names = rules.map(({ serviceName, name }) => `${serviceName}: ${name}`).join('\n');
  return (
    <span title={ruleCount > rules.length ? `${names}\n…` : names}>
      {ruleCount} {ruleCount === 1 ? 'rule' : 'rules'}
    </span>
  );
}

/** State of a policy by its worst fault; the page of the policy lists all of them. */
function PolicyState({ policy: { steps, warnings } }: { readonly policy: PolicyInUse }) {
  const { data: problems } = useQuery(pagingProblemsQuery(useOrganization().org.orgId));
  const deadEnds = warnings.filter(({ kind }) => kind === 'step_reaches_nobody').length;
  if (warnings.some(({ kind }) => kind === 'policy_unreadable')) return <Status tone="red">cannot be read</Status>;
  if (steps.length === 0) return <Status tone="red">pages nobody</Status>;
  if (deadEnds === steps.length) return <Status tone="red">reaches nobody now</Status>;
  if (deadEnds > 0) {
    return <Status tone="amber">{deadEnds === 1 ? '1 step reaches nobody' : `${deadEnds} steps reach nobody`}</Status>;
  }
  if (warnings.length > 0) {
    return (
      <Status tone="amber">
        {warnings.length} {warnings.length === 1 ? 'warning' : 'warnings'}
      </Status>
    );
  }
  const { simulated = [], missing = [] } = problems ?? {};
  const isReal = steps.some(({ channels }) =>
    channels.some((channel) => !simulated.includes(channel) && !missing.includes(channel)),
  );
  if (!isReal) return <Status tone="amber">simulated</Status>;
  return <Status tone="green">reaches somebody</Status>;
}
