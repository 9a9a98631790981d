import { Button, NativeSelect, Skeleton } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef, useState } from 'react';

import { actionQuery, type ResultOf, type Rule } from '#console/api/actions.ts';
import { ruleSearchQuery } from '#console/api/rules.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { EmptyState, NothingMatches } from '#console/components/lists/empty_state.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { SearchField } from '#console/components/lists/search_field.tsx';
import { TeamFilter } from '#console/components/lists/team_filter.tsx';
import { Page, useOpenedByAddress } from '#console/components/page.tsx';
import { Name } from '#console/components/text/name.tsx';
import { IconActivityHeartbeat, IconPlus } from '#console/icons.ts';
import { DeleteRule } from '#console/pages/rules/delete_rule.tsx';
import type { RuleFilter, RuleStart } from '#console/pages/rules/rule_filter.ts';
import { RuleRow } from '#console/pages/rules/rule_row.tsx';
import { STATE_NAMES } from '#console/pages/rules/rule_state.ts';
import { useSwitchRule } from '#console/pages/rules/use_rule_change.ts';
import { useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { conditionText, isRuleKind, RULE_KIND_NAMES, RULE_KINDS } from '#modules/rules/decide/rule_kinds.ts';
import { RULE_STATES } from '#modules/rules/decide/rule_kind.ts';
import bar from '#console/components/lists/filter_bar.module.css';
import { useDebounced } from '#console/components/use_debounced.ts';
import listClasses from '#console/pages/incidents/incident_list.module.css';
import classes from '#console/pages/rules/rule_row.module.css';

const Maintenance = lazyDialog(() => import('#console/pages/rules/maintenance.tsx').then((m) => m.Maintenance));

const Objective = lazyDialog(() => import('#console/pages/rules/objective_dialog.tsx').then((m) => m.ObjectiveDialog));

const route = getRouteApi('/inside/rules');

/** Page of all rules of the organization, which turn data into incidents. */
export function RuleList() {
  const { org, may } = useOrganization();
  const filter = route.useSearch();
  const changeAddress = route.useNavigate();
  const navigate = useNavigate();
  const text = useDebounced(filter.q);
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
  const [maintained, setMaintained] = useState<'all' | 'new' | null>(null);
  useOpenedByAddress('maintenance', () => setMaintained(may('oncall:edit') ? 'new' : 'all'));
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
      permission="oncall:edit"
      lead="What turns data into incidents, and whom it pages."
      actions={
        <>
          <Button variant="default" onClick={() => setMaintained('all')}>
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
        <div className={`${bar.bar} row wraps`}>
          <nav className={`${bar.tabs} grow`} aria-label="Rules by state" data-loading={list.isLoading || undefined}>
            {[undefined, ...RULE_STATES].map((state) => (
              <Link
                key={state ?? 'all'}
                to="/rules"
                search={(before) => ({ ...before, state })}
                className={`${bar.tab} row dimmed small nowrap`}
                aria-current={state === filter.state ? 'page' : undefined}
                activeOptions={{ explicitUndefined: true }}
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
      <LoadMore list={{ ...list, error }} />
      {maintained !== null && (
        <Maintenance
          isNew={maintained === 'new'}
          target={filter.service === undefined ? undefined : { serviceId: filter.service }}
          onClose={() => setMaintained(null)}
        />
      )}
      {isObjective && <Objective onClose={() => setIsObjective(false)} />}
      {deleted !== null && <DeleteRule rule={deleted} onClose={() => setDeleted(null)} />}
    </Page>
  );
}

const ROW_PX = 53;

interface RuleRowsProps {
  readonly rules: readonly Rule[];
  readonly isOld: boolean;
  readonly mayEdit: boolean;
  onSwitch(rule: Rule, enabled: boolean): void;
  onDelete(rule: Rule): void;
}

/** List of any number of rules, of which only the rows on the screen are in the document. */
function RuleRows({ rules, isOld, mayEdit, onSwitch, onDelete }: RuleRowsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useEffect(() => {
    const { top: fromScreen = 0 } = list.current?.getBoundingClientRect() ?? {};
    setTop(Math.round(fromScreen + window.scrollY));
  }, []);
  const virtual = useWindowVirtualizer({
    count: rules.length,
    estimateSize: () => ROW_PX,
    overscan: 12,
    // All rows of the screen are drawn at first, in pieces, and not at once after the list was drawn empty.
    initialRect: { width: innerWidth, height: innerHeight },
    scrollMargin: top,
    getItemKey: (index) => rules[index]?.ruleId ?? index,
  });
  return (
    <ul
      ref={list}
      className={`${listClasses.list} ${classes.list}`}
      aria-label="Rules"
      aria-busy={isOld}
      style={{ height: virtual.getTotalSize() + 2 }}
    >
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const rule = rules[index];
        if (rule === undefined) return null;
        return (
          <li
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            data-row={rule.ruleId}
            data-first={index === 0 ? '' : undefined}
            aria-setsize={rules.length}
            aria-posinset={index + 1}
            className={classes.row}
            style={{ top: start - top }}
          >
            <RuleRow
              rule={rule}
              mayEdit={mayEdit}
              onSwitch={(enabled) => onSwitch(rule, enabled)}
              onDelete={() => onDelete(rule)}
            />
          </li>
        );
      })}
    </ul>
  );
}

interface NoRulesProps {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  /** Button that opens the empty form, if the person may. */
  readonly create: ReactNode;
}

/** Empty state: says that nothing matches, or offers rules for data that arrives while there are none. */
function NoRules({ isFiltered, onClear, create }: NoRulesProps) {
  if (isFiltered) {
    return <NothingMatches what="rule" onClear={onClear} />;
  }
  return (
    <>
      <EmptyState icon={<IconActivityHeartbeat size={24} />} title="No rule yet" actions={create}>
        A rule watches a metric or new exceptions of a service. When it fires, it opens an incident and pages people by
        an escalation policy. Without rules nobody is ever paged.
      </EmptyState>
      {create !== false && <Autocomplete />}
    </>
  );
}

type Suggestion = ResultOf<'suggest_rules'>['suggestions'][number];

function Autocomplete() {
  const { orgId } = useOrganization().org;
  const { data } = useQuery(actionQuery(orgId, 'rules', 'suggest_rules', {}));
  if (data === undefined) return <Skeleton height={180} radius="lg" mt="md" />;
  if (data.suggestions.length === 0) return null;
  return (
    <div style={{ marginTop: '1.25rem' }}>
      <Card
        title="For what your services send"
        about="Each opens the form with these values, beside what the rule would have done until now."
        rows={data.suggestions.map((suggestion) => (
          <Row
            key={`${suggestion.serviceId} ${suggestion.name}`}
            title={<Name>{suggestion.name}</Name>}
            sub={conditionText(suggestion)}
          >
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/rules/new" search={startOf(suggestion)} {...props} />}
            >
              Use
            </Button>
          </Row>
        ))}
      />
    </div>
  );
}

function startOf({ serviceId, name, kind, config }: Suggestion): RuleStart {
  if (!('metricName' in config)) return { kind, service: serviceId, name };
  const { metricName, aggregation, comparator, threshold, windowMinutes } = config;
  return {
    kind,
    service: serviceId,
    name,
    metric: metricName,
    aggregation,
    comparator,
    threshold,
    window: windowMinutes,
  };
}
