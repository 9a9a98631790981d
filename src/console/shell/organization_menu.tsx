import { Menu, UnstyledButton } from '@mantine/core';
import { IconCheck, IconSelector } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { addressOf } from '#console/api/http.ts';
import { useCloseOnBack } from '#console/components/use_close_on_back.ts';
import { withoutBidiControls } from '#console/components/bidi.ts';
import { Name } from '#console/components/name.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/shell/organization_menu.module.css';

/** Shows the organization, with a menu to switch where there are several. */
export function OrganizationMenu() {
  const { org, session, switchTo } = useOrganization();
  const navigate = useNavigate();
  const [isOpen, setIsOpen] = useState(false);
  useCloseOnBack(isOpen, () => setIsOpen(false));
  const mark = <img src={addressOf('favicon.svg')} alt="" className={classes.mark} />;
  if (session.organizations.length === 1) {
    return (
      <div className={classes.org}>
        {mark}
        <bdi className={classes.name}>{withoutBidiControls(org.name)}</bdi>
      </div>
    );
  }
  return (
    <Menu opened={isOpen} onChange={setIsOpen} position="bottom-start" width={240}>
      <Menu.Target>
        <UnstyledButton className={classes.org} aria-label={`Organization: ${org.name}. Switch`}>
          {mark}
          <bdi className={classes.name}>{withoutBidiControls(org.name)}</bdi>
          <IconSelector size={16} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Organizations</Menu.Label>
        {session.organizations.map(({ orgId, name }) => (
          <Menu.Item
            key={orgId}
            rightSection={orgId === org.orgId ? <IconCheck size={16} aria-label="current" /> : null}
            onClick={() => {
              switchTo(orgId);
              void navigate({ to: '/' });
            }}
          >
            <Name>{name}</Name>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
