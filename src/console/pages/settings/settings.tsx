import { Outlet, useLocation } from '@tanstack/react-router';

import { PageTabs } from '#console/components/page.tsx';
import { useNavigation } from '#console/shell/navigation.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** Frame of the settings of the organization: a tab for each group of pages, and below it the pages of the current one. */
export function Settings() {
  const { isAdmin } = useOrganization();
  const { settings } = useNavigation();
  const { pathname } = useLocation();
  const shown = settings.filter(({ isForAdmins }) => isAdmin || !isForAdmins);
  const current = settings.find(({ to }) => pathname.startsWith(to))?.group;
  const groups = Map.groupBy(shown, ({ group }) => group);
  return (
    <>
      <PageTabs
        label="Settings"
        tabs={[...groups].flatMap(([label, [first]]) =>
          first === undefined ? [] : [{ to: first.to, label, isCurrent: label === current }],
        )}
        below={groups.get(current ?? '') ?? []}
      />
      <Outlet />
    </>
  );
}
