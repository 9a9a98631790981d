import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { actionQuery, type ResultOf } from '#console/api/actions.ts';
import { addressOf } from '#console/api/http.ts';
import { teamNamesQuery } from '#console/api/teams.ts';
import { Card } from '#console/components/card.tsx';
import { type Column, DataTable } from '#console/components/lists/data_table.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { Page } from '#console/components/page.tsx';
import { Choice } from '#console/components/forms/choice.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { dateFormat, durationText } from '#console/components/text/time_text.ts';
import { useNow } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/load/load.module.css';
import { IconDownload, IconScale } from '#console/icons.ts';
import { monthOf } from '#console/pages/load/load_search.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { API_PATHS } from '#kernel/api_paths.ts';

const route = getRouteApi('/inside/on-call/oncall/load');

const MONTH = dateFormat({ month: 'long', year: 'numeric', timeZone: 'UTC' });

type Load = ResultOf<'get_load_on_people'>;
type LoadOfPerson = Load['people'][number];
type Rule = Load['rules'][number];

/** Months to choose from: what happened longer ago is not kept. */
const MONTHS = 14;

/** Returns the months up to the present one, the newest first, with the chosen one if it is older. */
function monthsBefore(now: number, chosen: string): readonly string[] {
  const date = new Date(now);
  const months = Array.from({ length: MONTHS }, (_, back) =>
    monthOf(new Date(date.getFullYear(), date.getMonth() - back).getTime()),
  );
  return months.includes(chosen) ? months : [...months, chosen];
}

/** Page of what a month of on-call asked of the people of a team. */
export function LoadOnPeople() {
  const { org } = useOrganization();
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const now = useNow(60);
  const month = search.month ?? monthOf(now);
  const teams = useQuery(teamNamesQuery(org.orgId, { limit: 1 }));
  const teamId = search.team ?? teams.data?.teams[0]?.teamId ?? '';
  const { data, error, refetch } = useQuery({
    ...actionQuery(org.orgId, 'teams', 'get_load_on_people', { teamId, month }),
    enabled: teamId !== '',
  });
  const parameters = new URLSearchParams({ teamId, month });
  const csv = addressOf(`${API_PATHS.console}/organizations/${org.orgId}/actions/export_load_on_people?${parameters}`);
  return (
    <Page
      title="Load on people"
      lead="What on-call asked of everybody in a month."
      actions={
        data !== undefined && (
          <Button component="a" href={csv} download variant="default" leftSection={<IconDownload size={16} />}>
            As CSV
          </Button>
        )
      }
    >
      {teams.data?.total === 0 && (
        <EmptyState icon={<IconScale size={24} />} title="No team yet">
          Load is counted for the people of a team.
        </EmptyState>
      )}
      {teams.data?.total !== 0 && (
        <div className={classes.choices}>
          <TeamPicker
            label="Team"
            placeholder="Choose a team"
            isRequired
            value={teamId === '' ? null : teamId}
            onChange={(team) => void navigate({ search: { ...search, ...(team !== null && { team }) } })}
          />
          <Choice
            label="Month"
            options={monthsBefore(now, month).map((value) => ({ value, label: MONTH.format(Date.parse(value)) }))}
            value={month}
            onChange={(value) => {
              if (value !== null) void navigate({ search: { ...search, month: value } });
            }}
            emptyText="No month has this name"
          />
        </div>
      )}
      {error !== null && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && teams.data?.total !== 0 && <Skeleton height={420} radius="lg" />}
      {data !== undefined && <Shown load={data} />}
    </Page>
  );
}

function Shown({ load }: { readonly load: Load }) {
  return (
    <>
      {!load.isComplete && <p role="status">There was more than is counted here: the figures are too low.</p>}
      <Card title="People" about={`Beside the average of the team. The month is that of ${load.timezone}.`}>
        {load.people.length === 0 ? (
          <p>The team has no members.</p>
        ) : (
          <DataTable
            label="Load on people"
            items={load.people}
            keyOf={({ userId }) => userId}
            columns={personColumns(load.mean)}
            sortedBy={{ id: 'pages', desc: true }}
          />
        )}
      </Card>
      <Card title="Rules" about="Pages that nobody acted on: their incidents ended by themselves.">
        {load.rules.length === 0 ? (
          <p>No rule has paged in this month.</p>
        ) : (
          <DataTable
            label="Pages of rules"
            items={load.rules}
            keyOf={({ ruleId }) => ruleId}
            columns={RULE_COLUMNS}
            sortedBy={{ id: 'ignored', desc: true }}
          />
        )}
      </Card>
    </>
  );
}

function PersonCell({ userId, name, color }: LoadOfPerson) {
  return (
    <Person userId={userId} color={color}>
      {name}
    </Person>
  );
}

function personColumns(mean: Load['mean']): Column<LoadOfPerson>[] {
  const count = (
    id: Exclude<keyof Load['mean'], 'minutesToAcknowledge' | 'minutesToResolve'>,
    title: string,
    toText = (value: number) => value.toLocaleString(),
  ): Column<LoadOfPerson> => ({
    id,
    title,
    isRightAligned: true,
    sortBy: (person) => person[id],
    cell: (person) => <Beside value={toText(person[id])} mean={toText(mean[id])} />,
  });
  const time = (id: 'minutesToAcknowledge' | 'minutesToResolve', title: string): Column<LoadOfPerson> => ({
    id,
    title,
    isRightAligned: true,
    isDesktopOnly: true,
    sortBy: (person) => person[id] ?? -1,
    cell: (person) => <Beside value={minutesText(person[id])} mean={minutesText(mean[id])} />,
  });
  return [
    { id: 'name', title: 'Person', isMain: true, sortBy: ({ name }) => name, cell: PersonCell },
    count('pages', 'Pages'),
    count('nightPages', 'At night'),
    count('weekendPages', 'At weekends'),
    count('minutesAwake', 'Awake', minutesText),
    time('minutesToAcknowledge', 'To acknowledge'),
    time('minutesToResolve', 'To resolve'),
    count('shifts', 'Shifts'),
    count('hoursOnCall', 'On call', (hours) => `${Math.round(hours).toLocaleString()} h`),
  ];
}

const RULE_COLUMNS: readonly Column<Rule>[] = [
  {
    id: 'name',
    title: 'Rule',
    isMain: true,
    sortBy: ({ name }) => name,
    cell: ({ ruleId, name }) => (
      <Link to="/rules/$ruleId" params={{ ruleId }}>
        <Name>{name}</Name>
      </Link>
    ),
  },
  { id: 'pages', title: 'Pages', isRightAligned: true, sortBy: ({ pages }) => pages, cell: ({ pages }) => pages },
  {
    id: 'ignored',
    title: 'Nobody acted on',
    isRightAligned: true,
    sortBy: ({ ignoredPages }) => ignoredPages,
    cell: ({ ignoredPages, ignoredIncidents, incidents }) =>
      `${ignoredPages}, of ${ignoredIncidents} of ${incidents} incidents`,
  },
];

function minutesText(minutes: number | null): string {
  return minutes === null ? '–' : durationText(minutes * 60_000);
}

function Beside({ value, mean }: { readonly value: string; readonly mean: string }) {
  return (
    <>
      {value} <span className="dimmed tiny nowrap">(mean {mean})</span>
    </>
  );
}
