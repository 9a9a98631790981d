import { useNotifications } from '@mantine/notifications';
import { type ComponentType, useEffect, useState } from 'react';

import { loadWhenUsed } from '#console/components/load_when_used.ts';

/** Where notices appear. What shows them is loaded once somebody does something; a notice that comes earlier waits for it. */
export function Notices() {
  const [List, setList] = useState<ComponentType | null>(null);
  const { length } = useNotifications().notifications;
  useEffect(() => {
    if (List !== null) return;
    const load = async (): Promise<void> => {
      const { NoticeList } = await import('#console/components/notice_list.tsx');
      setList(() => NoticeList);
    };
    if (length === 0) loadWhenUsed(load);
    // Without the server the next notice tries again.
    else load().catch(() => {});
  }, [List, length]);
  return List !== null && <List />;
}
