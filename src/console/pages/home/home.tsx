import { Skeleton } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';

import { type HomeData, homeQuery, pagingProblemsQuery } from '#console/api/home.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Page } from '#console/components/page.tsx';
import { DeliveryProblems } from '#console/pages/home/delivery_problems.tsx';
import classes from '#console/pages/home/home.module.css';
import { MyIncidents, myIncidentsQuery } from '#console/pages/home/my_incidents.tsx';
import { MyOnCall } from '#console/pages/home/my_on_call.tsx';
import { lastResolvedQuery } from '#console/pages/incidents/no_incidents.tsx';
import { isComplete, SetupChecklist } from '#console/pages/home/setup_checklist.tsx';
import { WhoIsOnCall } from '#console/pages/home/who_is_on_call.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** Refresh interval: shifts begin and end without anybody changing anything. */
const REFRESH_MS = 60_000;
/** Refresh interval of the checklist, which shows changes from elsewhere, such as the first data of a service. */
const REFRESH_SETUP_MS = 15_000;

/** Home page: what somebody who was paged, or who starts the day, needs first. */
export function Home() {
  const { session } = useOrganization();
  return (
    <Page title={`${greeting(new Date().getHours())}, ${isolateBidi(session.user.name.split(' ')[0] ?? '')}`}>
      <Content />
    </Page>
  );
}

/** Content of the page. Shows all parts once all are loaded, so that nothing moves while somebody reads or presses. */
function Content() {
  const { orgId } = useOrganization().org;
  const home = useQuery({
    ...homeQuery(orgId),
    refetchInterval: ({ state }) =>
      state.data !== undefined && !isComplete(state.data.setup) ? REFRESH_SETUP_MS : REFRESH_MS,
  });
  const problems = useQuery(pagingProblemsQuery(orgId));
  const incidents = useInfiniteQuery(myIncidentsQuery(orgId));
  const isQuiet = incidents.data?.pages[0]?.incidents.length === 0;
  const last = useInfiniteQuery({ ...lastResolvedQuery(orgId), enabled: isQuiet });
  if ([home, problems, incidents].some(({ isPending }) => isPending) || last.isLoading) return <Waiting />;
  if (home.data === undefined) {
    return (
      <>
        <ErrorAlert error={home.error} onRetry={() => void home.refetch()} />
        <div className={classes.below}>
          <MyIncidents />
        </div>
      </>
    );
  }
  return <Parts home={home.data} />;
}

function Parts({ home }: { readonly home: HomeData }) {
  const { orgId } = useOrganization().org;
  const hasIncidents = useInfiniteQuery(myIncidentsQuery(orgId)).data?.pages[0]?.incidents.length !== 0;
  const { failing = [], warnings = [] } = useQuery(pagingProblemsQuery(orgId)).data ?? {};
  // Before anybody can be paged, setting up is what matters most; then it makes room.
  const isNew = !home.setup.hasPagingRule;
  const isWide = home.scheduleCount === 0 && failing.length === 0 && warnings.length === 0 && isNew;
  return (
    <>
      <MyOnCall home={home} />
      <div className={isWide ? classes.column : classes.columns}>
        <div>
          {isNew && !hasIncidents && <SetupChecklist progress={home.setup} />}
          <MyIncidents />
          {isNew && hasIncidents && <SetupChecklist progress={home.setup} />}
        </div>
        <div>
          <WhoIsOnCall home={home} />
          <DeliveryProblems />
          {!isNew && <SetupChecklist progress={home.setup} />}
        </div>
      </div>
    </>
  );
}

function Waiting() {
  return (
    <>
      <Skeleton height={76} radius="lg" mb="lg" />
      <div className={classes.columns}>
        <Skeleton height={320} radius="lg" />
        <Skeleton height={320} radius="lg" />
      </div>
    </>
  );
}

function greeting(hour: number): string {
  if (hour < 5) return 'Hello';
  if (hour < 12) return 'Good morning';
  return hour < 18 ? 'Good afternoon' : 'Good evening';
}
