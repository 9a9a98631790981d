import { Outlet } from '@tanstack/react-router';

import { PageTabs } from '#console/components/page.tsx';
import { PAGES } from '#modules/pages/decide/pages.ts';

const TABS = [
  { to: PAGES.onCall, label: 'On call now' },
  { to: PAGES.teams, label: 'Teams' },
  { to: PAGES.policies, label: 'Policies' },
  { to: PAGES.simulator, label: 'Simulator' },
  { to: PAGES.load, label: 'Load' },
] as const;

export function OnCall() {
  return (
    <>
      <PageTabs label="On-call" tabs={TABS} exact={PAGES.onCall} />
      <Outlet />
    </>
  );
}
