import { Button, NativeSelect, Skeleton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import type { Rule } from '#console/api/actions.ts';
import { ruleSearchQuery } from '#console/api/rules.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { Page } from '#console/components/page.tsx';
import { SearchField } from '#console/components/lists/search_field.tsx';
import { TeamFilter } from '#console/components/lists/team_filter.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import bar from '#console/components/lists/filter_bar.module.css';
import { DeleteRule } from '#console/pages/rules/delete_rule.tsx';
import { NoRules } from '#console/pages/rules/no_rules.tsx';
import type { RuleFilter } from '#console/pages/rules/rule_filter.ts';
import { RuleRows } from '#console/pages/rules/rule_rows.tsx';
import { STATE_NAMES } from '#console/pages/rules/rule_state.ts';
import { useSwitchRule } from '#console/pages/rules/use_rule_change.ts';
import { useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { isRuleKind, RULE_KIND_NAMES, RULE_KINDS } from '#modules/rules/decide/rule_kinds.ts';
import { RULE_STATES } from '#modules/rules/decide/rule_state.ts';

const Maintenance = lazyDialog(() => import('#console/pages/rules/maintenance.tsx').then((m) => m.Maintenance));

const Objective = lazyDialog(() =>
  import('#console/pages/rules/objective/objective_dialog.tsx').then((m) => m.ObjectiveDialog),
);

const route = getRouteApi('/inside/rules');

/** Pause in typing, in milliseconds, after which the server is asked. */
const DEBOUNCE_MS = 200;

/** Page of all rules of the organization, which turn data into incidents. */
export function RuleList() {
  const { org, may } = useOrganization();
  const filter = route.useSearch();
  const changeAddress = route.useNavigate();
  const navigate = useNavigate();
  const [text] = useDebouncedValue(filter.q, DEBOUNCE_MS);
  const { data, error, refetch, ...list } = useInfiniteQuery({
    ...ruleSearchQuery(org.orgId, {
      ...(filter.state !== undefined && { state: filter.state }),
      ...(filter.service !== undefined && { serviceId: filter.service }),
      ...(isRuleKind(filter.kind) && { kind: filter.kind }),
      ...(filter.team !== undefined && { ownedBy: filter.team }),
      ...(text !== undefined && { text }),
    }),
    placeholderData: keepPreviousData,
  });
  const switching = useSwitchRule();
  const [deleted, setDeleted] = useState<Rule | null>(null);
  const [isMaintained, setIsMaintained] = useState(false);
  const [isObjective, setIsObjective] = useState(false);
  const mayEdit = may('oncall:edit');
  useShortcut('n', () => {
    if (mayEdit) void navigate({ to: '/rules/new' });
  });

  const byId = new Map(data?.pages.flatMap(({ rules }) => rules).map((rule) => [rule.ruleId, rule]));
  const shown = [...byId.values()];
  const counts = data?.pages[0]?.counts;
  const total = counts === undefined ? 0 : RULE_STATES.reduce((sum, state) => sum + counts[state], 0);
  const isNarrowed = [filter.q, filter.service, filter.kind, filter.team].some((value) => value !== undefined);
  const show = (change: Partial<Record<keyof RuleFilter, string | undefined>>): void => {
    void changeAddress({ search: (before) => ({ ...before, ...change }) as RuleFilter, replace: true });
  };
  const create = mayEdit && (
    <Button component={Link} to="/rules/new" leftSection={<IconPlus size={18} />}>
      Create a rule
    </Button>
  );
  const isNew = data !== undefined && !list.isPlaceholderData && total === 0 && !isNarrowed;
  return (
    <Page
      title="Rules"
      lead="What turns data into incidents, and whom it pages."
      actions={
        <>
          <Button variant="default" onClick={() => setIsMaintained(true)}>
            Maintenance
          </Button>
          {mayEdit && (
            <Button variant="default" onClick={() => setIsObjective(true)}>
              New objective
            </Button>
          )}
          {!isNew && create}
        </>
      }
    >
      {!isNew && (
        <div className={bar.bar}>
          <nav className={bar.tabs} aria-label="Rules by state" data-loading={list.isLoading || undefined}>
            {[undefined, ...RULE_STATES].map((state) => (
              <Link
                key={state ?? 'all'}
                to="/rules"
                search={(before) => ({ ...before, state })}
                className={bar.tab}
                aria-current={state === filter.state ? 'page' : undefined}
              >
                {state === undefined ? 'All' : STATE_NAMES[state]}
                {counts !== undefined && <span>{(state === undefined ? total : counts[state]).toLocaleString()}</span>}
              </Link>
            ))}
          </nav>
          <div className={bar.filters}>
            <ServicePicker value={filter.service} onChange={(service) => show({ service })} />
            <NativeSelect
              aria-label="Kind"
              value={filter.kind ?? ''}
              onChange={(event) => show({ kind: event.currentTarget.value || undefined })}
              data={[
                { value: '', label: 'Any kind' },
                ...RULE_KIND_NAMES.map((kind) => ({ value: kind, label: RULE_KINDS[kind].title })),
              ]}
            />
            <TeamFilter value={filter.team} onChange={(team) => show({ team })} />
            <SearchField
              label="Search rules"
              placeholder="Name or metric"
              value={filter.q}
              onChange={(q) => show({ q })}
            />
          </div>
        </div>
      )}
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={312} radius="lg" />}
      {data !== undefined && shown.length === 0 && !list.isPlaceholderData && (
        <NoRules
          isFiltered={isNarrowed || filter.state !== undefined}
          onClear={() => show({ q: undefined, service: undefined, kind: undefined, team: undefined, state: undefined })}
          create={create}
        />
      )}
      {shown.length > 0 && (
        <RuleRows
          rules={shown}
          isOld={list.isPlaceholderData}
          mayEdit={mayEdit}
          onSwitch={(rule, enabled) => switching.mutate({ rule, enabled })}
          onDelete={setDeleted}
        />
      )}
      {list.hasNextPage && !list.isPlaceholderData && (
        <LoadMore
          onMore={() => void list.fetchNextPage()}
          isLoading={list.isFetchingNextPage}
          hasFailed={list.isFetchNextPageError}
        />
      )}
      {isMaintained && <Maintenance onClose={() => setIsMaintained(false)} />}
      {isObjective && <Objective onClose={() => setIsObjective(false)} />}
      {deleted !== null && <DeleteRule rule={deleted} onClose={() => setDeleted(null)} />}
    </Page>
  );
}
