import { isolateBidi } from '#console/components/bidi.ts';
import { Page } from '#console/components/page.tsx';
import { SetupChecklist } from '#console/pages/home/setup_checklist.tsx';
import { DeliveryProblems } from '#console/pages/home/delivery_problems.tsx';
import classes from '#console/pages/home/home.module.css';
import { MyIncidents } from '#console/pages/home/my_incidents.tsx';
import { MyOnCall } from '#console/pages/home/my_on_call.tsx';
import { WhoIsOnCall } from '#console/pages/home/who_is_on_call.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** What somebody who was paged, or who starts the day, needs to know first. */
export function Home() {
  const { session } = useOrganization();
  return (
    <Page title={`${greeting(new Date().getHours())}, ${isolateBidi(session.user.name.split(' ')[0] ?? '')}`}>
      <MyOnCall />
      <div className={classes.columns}>
        <div>
          <MyIncidents />
        </div>
        <div>
          <WhoIsOnCall />
          <DeliveryProblems />
          <SetupChecklist />
        </div>
      </div>
    </Page>
  );
}

function greeting(hour: number): string {
  if (hour < 5) return 'Hello';
  if (hour < 12) return 'Good morning';
  return hour < 18 ? 'Good afternoon' : 'Good evening';
}
