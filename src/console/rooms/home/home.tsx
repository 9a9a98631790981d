import { isolated } from '#console/parts/isolated.ts';
import { Page } from '#console/parts/page.tsx';
import { CheckList } from '#console/rooms/home/check_list.tsx';
import { DeliveryProblems } from '#console/rooms/home/delivery_problems.tsx';
import classes from '#console/rooms/home/home.module.css';
import { MyIncidents } from '#console/rooms/home/my_incidents.tsx';
import { OnCallNow } from '#console/rooms/home/on_call_now.tsx';
import { WhoIsOnCall } from '#console/rooms/home/who_is_on_call.tsx';
import { useHere } from '#console/shell/organization.tsx';

/** What somebody who was woken, or who comes in the morning, needs to know first. */
export function Home() {
  const { session } = useHere();
  return (
    <Page title={`${greeting(new Date().getHours())}, ${isolated(session.user.name.split(' ')[0] ?? '')}`}>
      <OnCallNow />
      <div className={classes.columns}>
        <div>
          <MyIncidents />
        </div>
        <div>
          <WhoIsOnCall />
          <DeliveryProblems />
          <CheckList />
        </div>
      </div>
    </Page>
  );
}

function greeting(hour: number): string {
  if (hour < 5) return 'Good night';
  if (hour < 12) return 'Good morning';
  return hour < 18 ? 'Good afternoon' : 'Good evening';
}
