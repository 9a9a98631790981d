import { useState } from 'react';

import { lazyPart } from '#console/components/lazy_part.tsx';
import { OrganizationButton, OrganizationName } from '#console/shell/organization_button.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/shell/organization_menu.module.css';

const OrganizationMenuPanel = lazyPart(() =>
  import('#console/shell/organization_menu_panel.tsx').then((m) => m.OrganizationMenuPanel),
);

/** Organization, with a menu to switch if there are several. */
export function OrganizationMenu() {
  const { session } = useOrganization();
  const [isWanted, setIsWanted] = useState(false);
  if (session.organizations.length === 1) {
    return (
      <div className={classes.org}>
        <OrganizationName />
      </div>
    );
  }
  const button = (
    <OrganizationButton
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={OrganizationMenuPanel.preload}
      onFocus={OrganizationMenuPanel.preload}
      onClick={() => setIsWanted(true)}
    />
  );
  return isWanted ? <OrganizationMenuPanel whileLoading={button} /> : button;
}
